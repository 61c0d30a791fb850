"""Figures and widgets of the lessons: pure functions that return pictures, and three ways to make them move.

`picture` and `show` put a figure on the page, `stepper` walks through frames, `explore` follows sliders by the kernel,
`live` is moved in the page by a script of its own.
Topic modules (`figures.perceptron`, `figures.plots`, ...) are imported when they are first used, and so are the
functions named in `TOPICS`, such as `figures.tile_explorer`.
"""

import importlib
import importlib.util

from . import style
from .explore import Explore, explore
from .live import Live, live
from .picture import Picture, picture, show
from .stepper import Stepper, stepper
from .style import COLOURS, new_figure
from .svg import Box, Svg

__all__ = [
    "COLOURS",
    "Box",
    "Explore",
    "Live",
    "Picture",
    "Stepper",
    "Svg",
    "explore",
    "live",
    "new_figure",
    "picture",
    "show",
    "stepper",
    "style",
]

TOPICS = {
    "bend_by_bend": "bends",
    "bucket_timeline": "bucket_rows",
    "climb": "climbs",
    "cluster_explorer": "cluster_sizes",
    "copy_rates": "step_times",
    "crossing": "convolution_costs",
    "data_movement": "convolution_costs",
    "delta_explorer": "deltas",
    "descriptor_bits": "descriptors",
    "diagnose": "doctor",
    "digit_map": "digit_maps",
    "error_image": "output_tiles",
    "fragment_map": "fragments",
    "group_loop": "group_loops",
    "gradient_explorer": "map_gradients",
    "halo_explorer": "halos",
    "launch_rows": "step_rows",
    "loss_scale": "loss_scales",
    "mask_explorer": "masks",
    "measured_rows": "engine_rows",
    "measured_step": "step_times",
    "network_volumes": "volumes",
    "all_reduce_steps": "reduce_steps",
    "adam_valley": "valleys",
    "momentum_valley": "valleys",
    "nine_numbers": "xor_networks",
    "ndrange_explorer": "ndranges",
    "number_bits": "number_formats",
    "pipeline": "pipelines",
    "pipeline_timeline": "pipeline_stages",
    "opencl_objects": "host_program",
    "queue_timelines": "queue_lanes",
    "share_explorer": "shares_of_two",
    "shared_step": "shared_steps",
    "signal_explorer": "signals",
    "stream_rows": "engine_rows",
    "systolic_array": "systolic",
    "tile_banks": "swizzles",
    "tile_explorer": "product_explorer",
    "tile_levels": "product_levels",
    "tile_numbers": "output_tiles",
    "tile_walk": "swizzles",
    "time_of_an_image": "step_times",
    "walk_downhill": "descent_live",
}
"""Functions of topic modules that lessons call by `figures.<name>`, most of which stand on `course_lib.simt`."""


def __getattr__(name):
    if name in TOPICS:
        return getattr(importlib.import_module(f"{__name__}.{TOPICS[name]}"), name)
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

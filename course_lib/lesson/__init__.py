"""What a lesson's text is made of besides pictures: questions that hide their answers, and tables.

`predict` asks before the result shows, `table` puts rows on the page, `measured` brings what a card needed from
results/. `counts` puts counters of launches into a table, `columns` reports side by side, `findings` shows what one of
them found, and `listing` folds a text of the library. `estimated` is the predicted time beside the measured one,
`issued` the machine instructions that it is made of; `count_layer` counts ways to compute a convolution layer.

The experiments of single lessons: `lines`, `corrections` and `two_digits` of 01; `recorded_gradients` of 05; `pushes`,
`steps_until` and `judged_by_others` of 06; `signals`, `examine`, `rate_range`, `training_runs`, `lead`, `xor_runs`,
`warm_up_runs`, `sick_curves`, `strangers` and `waking_epochs` of 06b; `moved` and `with_room` of 07; `padded`,
`train_in_phases`, `cost_share`, `layer_times`, `unrolled_times` and `colour_images` of 09;
`climb_each`, `random_changes` and `relative_roughness` of 10; `predicted_launches` of 16; `precision_runs`,
`falling_rate`, `returning_gradients`, `split_products`, `tensor_core_products`, `float32_in_order` and
`pruned_runs` of 17; `backward_layers`, `rank_steps` and `alexnet` of 18; `opencl_run` of 19.
"""

from .backward_layers import backward_layers
from .colour_images import ColourImages, colour_images
from .columns import columns
from .counts import counts
from .cross_judges import judged_by_others
from .estimates import Issued, estimated, issued
from .findings import Findings, findings
from .layer_counts import Counted, count_layer
from .layer_times import layer_times, unrolled_times
from .lenets import cost_share, padded, train_in_phases
from .listing import Listing, listing
from .measurements import (
    Measured,
    Rate,
    Rows,
    measured,
    measured_rows,
    measured_training,
    memory_ladder,
    microbench,
    registers,
)
from .moved_digits import moved, with_room
from .opencl_runs import OpenclRun, SharedJob, opencl_run
from .precision_runs import PrecisionRun, falling_rate, precision_runs, pruned_runs, returning_gradients
from .predicted_steps import predicted_launches
from .prediction import Prediction, predict
from .probed import climb_each, random_changes, relative_roughness
from .pushes import pushes
from .rank_steps import RankSteps, rank_steps
from .recorded_gradients import RecordedGradients, recorded_gradients
from .tables import Table, table
from .tensor_sums import float32_in_order, split_products, tensor_core_products
from .training_health import (
    Examination,
    Runs,
    Signal,
    Stranger,
    examine,
    lead,
    rate_range,
    sick_curves,
    signals,
    strangers,
    training_runs,
    waking_epochs,
    warm_up_runs,
    xor_runs,
)
from .two_digits import TwoDigits, two_digits
from .two_streams import StreamLayer, alexnet
from .whole_batch import Descent, steps_until

__all__ = [
    "ColourImages", "Counted", "Descent", "Examination", "Findings", "Issued", "Listing", "Measured", "OpenclRun",
    "PrecisionRun", "Prediction", "RankSteps", "Rate", "RecordedGradients", "Rows", "Runs", "SharedJob", "Signal",
    "Stranger", "StreamLayer", "Table", "TwoDigits", "alexnet", "backward_layers", "climb_each", "colour_images",
    "columns", "cost_share", "count_layer", "counts", "estimated", "examine", "falling_rate", "findings",
    "float32_in_order", "issued", "judged_by_others", "layer_times", "lead", "listing", "measured",
    "measured_rows", "measured_training", "memory_ladder", "microbench", "moved", "opencl_run", "padded",
    "precision_runs", "predict", "predicted_launches", "pruned_runs", "pushes", "random_changes", "rank_steps",
    "rate_range", "recorded_gradients", "registers", "relative_roughness", "returning_gradients", "sick_curves",
    "signals", "split_products", "steps_until", "strangers", "table", "tensor_core_products", "train_in_phases",
    "training_runs", "two_digits", "unrolled_times", "waking_epochs", "warm_up_runs", "with_room", "xor_runs",
]  # fmt: skip

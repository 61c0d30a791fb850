"""What a lesson's text is made of besides pictures: questions that hide their answers, and tables.

`predict` asks before the result shows, `table` puts rows on the page, `measured` brings what a card needed from
results/. `counts` puts counters of launches into a table, `columns` reports side by side, `findings` shows what one of
them found, and `listing` folds a text of the library. `estimated` is the predicted time beside the measured one,
`issued` the machine instructions that it is made of; `count_layer` counts ways to compute a convolution layer. `lines`
has what lesson 01 asks of a perceptron's runs, `two_digits` its digits; `moved`, `with_room` and `cut_masks` are lesson
07's experiment with digits that move. `padded`, `train_in_phases`, `cost_share`, `layer_times` and `colour_images` are
lesson 09's LeNet-5: its input, its training, its costs, its clock, and pictures in colour.
"""

from .colour_images import ColourImages, colour_images
from .columns import columns
from .counts import counts
from .estimates import Issued, estimated, issued
from .findings import Findings, findings
from .layer_counts import Counted, count_layer
from .layer_times import layer_times
from .lenets import cost_share, padded, train_in_phases
from .listing import Listing, listing
from .measurements import Measured, Rate, measured, memory_ladder, microbench, registers
from .moved_digits import cut_masks, moved, with_room
from .prediction import Prediction, predict
from .tables import Table, table
from .two_digits import TwoDigits, two_digits

__all__ = [
    "ColourImages", "Counted", "Findings", "Issued", "Listing", "Measured", "Prediction", "Rate", "Table",
    "TwoDigits", "colour_images", "columns", "cost_share", "count_layer", "counts", "cut_masks", "estimated",
    "findings", "issued", "layer_times", "listing", "measured", "memory_ladder", "microbench", "moved", "padded",
    "predict", "registers", "table", "train_in_phases", "two_digits", "with_room",
]  # fmt: skip

"""What a lesson's text is made of besides pictures: questions that hide their answers, and tables.

`predict` asks before the result shows, `table` puts rows on the page, `measured` brings what a card needed from
results/. `counts` puts counters of launches into a table, `columns` reports side by side, `findings` shows what one of
them found, and `listing` folds a text of the library. `estimated` is the predicted time beside the measured one,
`issued` the machine instructions that it is made of; `count_layer` counts ways to compute a convolution layer. `lines`
has what lesson 01 asks of a perceptron's runs, `two_digits` its digits; `pushes`, `steps_until` and `judged_by_others`
are experiments of lesson 06; `moved`, `with_room` and `cut_masks` are lesson 07's with digits that move.
"""

from .columns import columns
from .counts import counts
from .cross_judges import judged_by_others
from .estimates import Issued, estimated, issued
from .findings import Findings, findings
from .layer_counts import Counted, count_layer
from .listing import Listing, listing
from .measurements import Measured, Rate, measured, memory_ladder, microbench, registers
from .moved_digits import cut_masks, moved, with_room
from .prediction import Prediction, predict
from .pushes import pushes
from .tables import Table, table
from .two_digits import TwoDigits, two_digits
from .whole_batch import Descent, steps_until

__all__ = [
    "Counted", "Descent", "Findings", "Issued", "Listing", "Measured", "Prediction", "Rate", "Table", "TwoDigits",
    "columns", "count_layer", "counts", "cut_masks", "estimated", "findings", "issued", "judged_by_others", "listing",
    "measured", "memory_ladder", "microbench", "moved", "predict", "pushes", "registers", "steps_until", "table",
    "two_digits", "with_room",
]  # fmt: skip

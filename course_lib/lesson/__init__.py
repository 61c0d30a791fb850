"""What a lesson's text is made of besides pictures: questions that hide their answers, and tables.

`predict` asks before the result shows, `table` puts rows on the page, `measured` brings what a
card needed from results/.
"""

from .measurements import Measured, Rate, measured, microbench
from .prediction import Prediction, predict
from .tables import Table, table

__all__ = ["Measured", "Prediction", "Rate", "Table", "measured", "microbench", "predict", "table"]

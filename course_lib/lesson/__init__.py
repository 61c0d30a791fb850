"""What a lesson's text is made of besides pictures: questions that hide their answers, and tables.

`predict` asks before the result shows, `table` puts rows on the page, `columns` several reports side by side.
"""

from .columns import columns
from .prediction import Prediction, predict
from .tables import Table, table

__all__ = ["Prediction", "Table", "columns", "predict", "table"]

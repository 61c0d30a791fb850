"""What a lesson's text is made of besides pictures: questions that hide their answers, and tables.

`predict` asks before the result shows, `table` puts rows on the page, `columns` several reports side by side,
`findings` what one of them found.
"""

from .columns import columns
from .findings import Findings, findings
from .prediction import Prediction, predict
from .tables import Table, table

__all__ = ["Findings", "Prediction", "Table", "columns", "findings", "predict", "table"]

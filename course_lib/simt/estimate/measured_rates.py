"""Constants of the cards that were measured. Written by `python -m tools.microbench.rates`; nobody edits it.

Source: results/microbench.<device>.json.
"""

MEASURED = {}

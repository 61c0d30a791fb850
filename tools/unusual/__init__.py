"""Notebooks in unusual shapes, made from the model answers; `tools/unusual_notebooks.py` runs them."""

"""A report to look at: as a page, as text, as a map of which thread touches what, and two reports side by side.

Source: the course's own.
"""

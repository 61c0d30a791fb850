"""One warp, step by step: what a launch does in each line, lane by lane, to look at and to walk through.

Read in this order: `walker` and `watched` (the executor, looked at), `recorder` (what is kept), `packing` (how numbers
are written down), `trace` and `step` (to ask), `words` (to say), `file` (to send), `debugger`, `strip` and `tree` (to
see).
"""

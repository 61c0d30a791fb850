"""What a launch would meet on a named GPU: the table of devices, occupancy, roofline, and a predicted time.

A prediction goes through these modules: `sample` walks some blocks and follows the L1 cache; `compiled` gets machine
code, `code` and `executions` say how often a warp executes what, `pipes` which unit does it and when a warp waits;
`by_source` guesses all that without a compiler; `facts` is the launch in numbers; `rates` are the card's constants, all
measured; `model` makes a time of them, `predict` says when there is none, `bound` and `launch` say it to a reader.

Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities".
"""

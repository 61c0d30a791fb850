"""What a launch would meet on a named GPU: the table of devices, occupancy, roofline, and the time it takes at best.

Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities".
"""

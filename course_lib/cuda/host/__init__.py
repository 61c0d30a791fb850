"""Numba's host API without a GPU: what `numba.cuda` answers while `gpu.use()` is in force.

Read in this order: `switch` puts the answers into `numba.cuda` and takes them out again; `memory` and `arrays` are
device arrays, `streams` streams and events, `devices` the device that is not there; `launch` is kernel[grid, block],
`ufuncs` are vectorize and guvectorize, `refused` is what cannot be answered.

Source: Numba's documentation, "CUDA Host API".
"""

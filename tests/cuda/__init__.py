"""Library kernels: one body for the SIMT executor, Numba's simulator at small sizes, and a GPU where there is one."""

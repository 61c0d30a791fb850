"""What one card does, measured once: the rates and latencies that the predicted time of a launch is made of.

    python -m tools.microbench --out results/microbench.h200.json            every constant, in some minutes
    python -m tools.microbench.judged --out results/kernels.h200.json        the kernels that predictions are judged by

No constant is taken from a kernel that a prediction is judged by. Source: the course's own; the patterns are those of
Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018).
"""

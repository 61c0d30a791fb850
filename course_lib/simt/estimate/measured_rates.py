"""Constants of the cards that were measured. Written by `python -m tools.microbench.rates`; nobody edits it.

Source: results/microbench.<device>.json.
"""

MEASURED = {
    "H200": {
        "device": "H200",
        "source": "microbench.h200.json, 2026-11-29, driver 580.159.04",
        "launch": 1.407e-06,
        "block": {32: 162.8, 64: 162.9, 128: 162.8, 256: 162.8, 512: 162.8, 1024: 190.5},
        "turn": {32: 342.5, 64: 342.6, 128: 349.6, 256: 356.5, 512: 371.1, 1024: 405.3},
        "dram_read": 1.977,
        "dram_write": 2.306,
        "l2_sector": 0.9794,
        "l2_line": 0.0,
        "l2_write": 1.862,
        "partial": 3.171,
        "partial_beyond": 3.948,
        "shared_wavefront": 1.041,
        "l1_wavefront": 1.021,
        "l1_line": 0.2878,
        "shared_latency": 29.02,
        "l1_latency": 39.57,
        "l2_latency": 287.4,
        "dram_latency": 670.5,
        "shuffle_latency": 25.79,
        "fma": 0.2869,
        "imad": 0.5027,
        "float64": 0.546,
        "tensor": 2.234,
        "shuffle": 0.5192,
        "barrier": {32: 16.79, 64: 18.75, 128: 22.45, 256: 30.27, 512: 46.37, 1024: 78.55},
        "barrier_busy": {32: 3.031, 64: 4.279, 128: 8.375, 256: 16.96, 512: 33.05, 1024: 68.09},
        "atomic_same": 111.3,
        "atomic_apart": 12.62,
        "atomic_shared": 5.055,
    }
}

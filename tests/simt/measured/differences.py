"""Where a card counts something else than the executor, and why; the test says so when an entry is no longer true.

The executor counts what the source asks for. A compiler may merge, drop or hoist an access, or unroll a loop. These
kernels (`kernels/merged.py`) are written so that it does; the numbers were predicted from their machine code.
"""

COUNTERS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
"""The executor's counters (course_lib.simt.counters) and Nsight Compute's, which must be equal."""

TWICE = "The compiler loads x[i] once and uses the register twice."
UNUSED = "Nobody uses what b[i] gave, so the compiler drops the load."
HOISTED = "Nothing in the loop writes, so the compiler loads x[i] once, before the loop."
UNROLLED = (
    "The compiler unrolls the loop by four: in the warp whose lanes go round 3 or 4 times, some lanes take the single "
    "steps and the others the fourfold step, so that these lanes no longer share a request."
)
ROWS = (
    "The compiler unrolls the loop by four and does the odd steps first: lanes of different lengths are then at "
    "different rows, where the source has all lanes of a warp at the same row."
)

DIFFERENCES: dict[str, dict[str, tuple[int, int, str]]] = {
    "same_load_twice": {"global_load_requests": (16, 8, TWICE), "global_load_sectors": (64, 32, TWICE)},
    "unused_load": {"global_load_requests": (16, 8, UNUSED), "global_load_sectors": (64, 32, UNUSED)},
    "load_in_a_loop": {"global_load_requests": (40, 8, HOISTED), "global_load_sectors": (160, 32, HOISTED)},
    "grid_stride_unrolled": {
        "global_load_requests": (64, 70, UNROLLED),
        "global_store_requests": (32, 35, UNROLLED),
    },
    "ragged_rows": {"global_load_requests": (35, 44, ROWS), "global_load_sectors": (119, 165, ROWS)},
}
"""Kernel -> counter -> (executor, measured, why)."""

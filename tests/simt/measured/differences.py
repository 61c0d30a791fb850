"""Where a card counts something else than the executor, and why; the test says so when an entry is no longer true."""

COUNTERS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
"""The executor's counters (course_lib.simt.counters) and Nsight Compute's, which must be equal."""

DIFFERENCES: dict[str, dict[str, tuple[int, int, str]]] = {}
"""Kernel -> counter -> (executor, measured, why)."""

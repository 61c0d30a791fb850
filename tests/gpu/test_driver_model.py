"""What is asked of the driver beside Numba, with a driver that takes notes: copies, and priorities of a graph."""

import sys
import types

import numpy as np
import pytest

from tests.gpu.devices import needs_numba

pytest.importorskip("numba.cuda")
pytestmark = needs_numba


class Driver(types.ModuleType):
    """Answers every request with success and a number, and notes it."""

    class CUstream(int):
        pass

    def __init__(self):
        super().__init__("driver")
        self.notes = []
        self.CUDA_KERNEL_NODE_PARAMS = self.CUkernelNodeAttrValue = types.SimpleNamespace
        self.CUkernelNodeAttrID = types.SimpleNamespace(CU_LAUNCH_ATTRIBUTE_PRIORITY="priority")
        self.CUgraphInstantiate_flags = types.SimpleNamespace(CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY=8)

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)

        def asked(*arguments):
            self.notes.append((name, *arguments))
            return 0, len(self.notes)

        return asked


@pytest.fixture
def driver(monkeypatch):
    made = Driver()
    bindings = types.ModuleType("cuda.bindings")
    bindings.driver = made
    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    return made


def _graph(*priority):
    from course_lib.cuda.graph_nodes import GraphNodes

    nodes = GraphNodes(*priority)
    for _ in range(2):
        nodes.add_kernel("kernel", (1, 1, 1), (32, 1, 1), 0, [0], [])
    nodes.finish()
    return nodes


def test_a_graph_without_a_priority_takes_that_of_the_stream_it_is_started_in(driver):
    nodes = _graph()
    assert "cuGraphKernelNodeSetAttribute" not in [name for name, *_ in driver.notes]
    assert driver.notes[-1] == ("cuGraphInstantiate", nodes.graph, 0)


def test_each_kernel_of_a_graph_with_a_priority_has_it_and_the_graph_says_that_it_counts(driver):
    nodes = _graph(-5)
    told = [(node, kind, value.priority) for name, node, kind, value in
            (note for note in driver.notes if note[0] == "cuGraphKernelNodeSetAttribute")]  # fmt: skip
    assert told == [(node, "priority", -5) for node in nodes.nodes]
    assert driver.notes[-1] == ("cuGraphInstantiate", nodes.graph, 8)


def _array(host, stream=0):
    """Something that has what a device array says of itself."""
    from numba.cuda.cudadrv.devicearray import DeviceNDArray

    class Pointer:
        value = 4096

    array = DeviceNDArray.__new__(DeviceNDArray)
    array.size, array.stream = host.size, stream
    array._dummy = types.SimpleNamespace(is_c_contig=host.flags.c_contiguous)
    array.gpu_data = types.SimpleNamespace(device_ctypes_pointer=Pointer)
    return array


@pytest.fixture
def copies(driver, monkeypatch):
    from course_lib.cuda import thin_copy

    asked = []
    monkeypatch.setattr(thin_copy.cuda, "current_context", lambda: asked.append(1))
    made = thin_copy.ThinCopies()
    made.asked = asked
    return made


def test_a_copy_is_one_request_with_the_addresses_and_the_bytes(copies, driver):
    host, stream = np.ones((4, 6), np.float32), types.SimpleNamespace(handle=77)
    here = host.__array_interface__["data"][0]
    array = _array(host)
    assert copies.to_device(array, host, stream)
    assert copies.to_device(array, host, 0)
    assert copies.to_host(array, host, stream)
    assert copies.to_host(array, host, 0)
    assert driver.notes == [
        ("cuMemcpyHtoDAsync", 4096, here, 96, 77), ("cuMemcpyHtoD", 4096, here, 96),
        ("cuMemcpyDtoHAsync", here, 4096, 96, 77), ("cuMemcpyDtoH", here, 4096, 96),
    ]  # fmt: skip
    assert copies.asked == [1], "a thread asks for the context once"


def test_an_array_made_in_a_stream_is_copied_there_as_numba_does(copies, driver):
    host = np.ones(3, np.float32)
    assert copies.to_device(_array(host, stream=types.SimpleNamespace(handle=5)), host, 0)
    assert driver.notes[0][0] == "cuMemcpyHtoDAsync"
    assert driver.notes[0][-1] == 5


def test_what_is_no_run_of_memory_in_row_major_order_goes_numbas_way(copies, driver):
    rows = np.ones((4, 6), np.float32)
    columns = np.asfortranarray(rows)
    assert not copies.to_device(_array(columns), columns, 0)
    assert not copies.to_device(_array(rows), columns, 0)
    assert not copies.to_device(_array(rows[:0]), rows[:0], 0)
    assert not copies.takes(rows)
    assert driver.notes == []


def test_a_copy_that_the_driver_refuses_is_an_error(copies, driver):
    driver.cuMemcpyHtoD = lambda *arguments: (types.SimpleNamespace(name="CUDA_ERROR_INVALID_VALUE"),)
    with pytest.raises(RuntimeError, match="refuses a copy: CUDA_ERROR_INVALID_VALUE"):
        copies.to_device(_array(np.ones(3)), np.ones(3), 0)

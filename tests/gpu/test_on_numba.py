"""What happens on a GPU, as far as it shows without one: Numba is replaced by something that takes notes."""

import types
import warnings

import numpy as np
import pytest
from numba import float32

from course_lib.cuda import device, on_numba
from course_lib.cuda import kernel as kernel_module
from course_lib.cuda.choice import Choice
from course_lib.cuda.numba_cuda import PerformanceWarning, quiet_small_grids
from tests.gpu import kernels
from tests.gpu.devices import needs_numba

numba_cuda = pytest.importorskip("numba.cuda")
pytestmark = needs_numba


class Dispatcher:
    """Takes notes instead of launching."""

    def __init__(self):
        self.notes = []

    def __getitem__(self, configuration):
        words = "Grid size 1 will likely result in GPU under-utilization due to low occupancy."
        for text in (words, f"\x1b[1m\x1b[33m{words}\x1b[0m"):  # as with the package colorama
            warnings.warn(PerformanceWarning(text), stacklevel=2)
        return lambda *arguments: self.notes.append((configuration, arguments))

    def typeof_pyval(self, value):
        return type(value).__name__

    def compile(self, signature):
        self.notes.append(("compile", signature))
        return "compiled"


@pytest.fixture
def card(monkeypatch):
    """Return a function that makes the executor of a card with these properties."""

    def make(name=b"NVIDIA H200", optin=227 * 1024):
        properties = types.SimpleNamespace(name=name, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=optin)
        monkeypatch.setattr(numba_cuda, "get_current_device", lambda: properties)
        monkeypatch.setattr(on_numba, "THIN", False)  # Numba's own launcher, which takes notes here
        return on_numba.Gpu()

    return make


def test_the_name_is_text_in_every_version_of_numba(card):
    assert card(b"NVIDIA T4").name == card("NVIDIA T4").name == "NVIDIA T4"


def test_a_block_may_take_what_the_card_gives_on_request(card):
    assert card(optin=227 * 1024).shared_limit == 232_448
    assert card(optin=0).shared_limit == 49_152


def test_a_launch_is_numbas_own_without_a_word_of_small_grids(card):
    kernel = types.SimpleNamespace(dispatcher=Dispatcher())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch = card().launcher(kernel, (1, 1, 1), (32, 1, 1), 0, 48 * 1024)
    launch(1, 2)
    assert kernel.dispatcher.notes == [(((1, 1, 1), (32, 1, 1), 0, 48 * 1024), (1, 2))]


COLOURS = ("", "\x1b[1m", "\x1b[31m\x1b[1m", "\x1b[1;31m", "\x1b[38;5;9m\n", "\x1b(B\x1b[m")


@pytest.mark.parametrize("colour", COLOURS, ids=repr)
def test_small_grids_are_kept_quiet_in_every_colour_and_nothing_else_is(colour):
    """With the package colorama Numba's words begin with codes, and differ from one terminal to the next."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with quiet_small_grids():
            for words in ("Grid size 1 will likely result in GPU under-utilization", "Host array used in CUDA kernel"):
                warnings.warn(PerformanceWarning(colour + words), stacklevel=1)
            warnings.warn("Grid size of my own", UserWarning, stacklevel=1)
    assert [w.category for w in told] == [PerformanceWarning, UserWarning]
    assert "Host array" in str(told[0].message)


def test_more_shared_memory_and_clusters_are_asked_for_once_for_each_type(card, monkeypatch):
    asked = []
    monkeypatch.setattr(on_numba, "_ask_for_shared_memory", lambda compiled, count: asked.append((compiled, count)))
    monkeypatch.setattr(on_numba, "_ask_for_clusters", lambda compiled, blocks: asked.append(blocks))
    kernel = types.SimpleNamespace(dispatcher=Dispatcher(), options={"cluster": 2})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        launch = card().launcher(kernel, (1, 1, 1), (32, 1, 1), 0, 50_000)
    for argument in (1, 2, 3.0):
        launch(argument)
    assert asked == [("compiled", 50_000), 2] * 2
    assert [note for note in kernel.dispatcher.notes if note[0] == "compile"] == [
        ("compile", ("int",)), ("compile", ("float",)),
    ]  # fmt: skip


def test_numbers_that_stay_are_copied_while_launches_are_recorded_and_not_to_the_graphs_memory(card, monkeypatch):
    made, pool = card(), types.SimpleNamespace(recording="the graph's")
    monkeypatch.setattr(numba_cuda, "current_context", lambda: types.SimpleNamespace(memory_manager=pool))
    monkeypatch.setattr(made, "copy_in", lambda host, stream: (host, pool.recording))
    made.keep("nobody's")
    made.recording = types.SimpleNamespace(kept=[])
    assert made.constant("maps") == ("maps", None)
    assert pool.recording == "the graph's"
    made.keep("maps")
    assert made.recording.kept == ["maps"]


def test_arrays_of_other_libraries_are_device_arrays(card):
    other = types.SimpleNamespace(__cuda_array_interface__={})
    assert card().owns(other)
    assert card().owns(types.SimpleNamespace(__cuda_ndarray__=True))
    assert not card().owns(np.ones(3))
    assert not card().owns(3)


def test_arrays_of_other_libraries_are_copied_through_numba(card, monkeypatch):
    own = types.SimpleNamespace(copy_to_host=lambda out, stream: ("host", stream))
    other = types.SimpleNamespace(__cuda_array_interface__={})
    monkeypatch.setattr(numba_cuda, "as_cuda_array", lambda array: own if array is other else None)
    assert card().copy_out(own, 0) == card().copy_out(other, 0) == ("host", 0)


@pytest.mark.parametrize(("chosen", "kind"), [("gpu", "Gpu"), ("simt", "Simt"), ("numba-simulator", "Simulator")])
def test_each_device_has_its_executor(card, monkeypatch, chosen, kind):
    card()
    monkeypatch.setattr(device, "choice", lambda: Choice(chosen, "pretended"))
    assert type(device.executor.__wrapped__()).__name__ == kind


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    monkeypatch.setattr(kernel_module, "choice", lambda: Choice("gpu", "pretended"))


def test_options_reach_numba_on_a_gpu(as_on_a_gpu):
    kernel = kernel_module.Kernel(kernels.add.py_func, {"device": False, "max_registers": 32, "fastmath": True})
    options = kernel.dispatcher.targetoptions
    assert (options["max_registers"], options["fastmath"], options["device"]) == (32, True, False)


def test_a_device_function_is_for_numba_its_own_dispatcher(as_on_a_gpu):
    function = kernel_module.DeviceFunction(kernels.cube.py_func, {"device": True})
    assert function._numba_type_.dispatcher is function.dispatcher
    assert function.dispatcher.targetoptions["device"] is True


def test_a_kernel_that_names_a_device_function_can_be_cached(as_on_a_gpu):
    """Numba's cache pickles what a closure holds and looks for equal bytes."""
    try:
        from numba.cuda.serialize import dumps
    except ImportError:  # the numba.cuda that is part of Numba
        from numba.core.serialize import dumps

    def scale(v):
        return v * float32(2)

    function = kernel_module.DeviceFunction(scale, {"device": True})
    before = dumps(function)
    assert function.dispatcher
    assert dumps(function) == before


def test_a_kernel_with_device_functions_compiles_for_a_gpu(as_on_a_gpu, monkeypatch):
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import nvvm

    if not nvvm.is_available():
        pytest.skip("needs NVVM, of the CUDA toolkit or of numba-cuda[cu13]")
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: types.SimpleNamespace(compute_capability=(8, 0)))
    called = kernels.cube, kernels.cube_and_one, kernels.half
    for function in called:
        monkeypatch.delitem(vars(function), "dispatcher", raising=False)
    try:
        for kernel in (kernels.cubes, kernels.halves):
            ptx, _ = numba_cuda.compile_ptx(kernel.py_func, (float32[:], float32[:]), cc=(8, 0))
            assert ".entry" in ptx
            assert "mul" in ptx
    finally:
        for function in called:
            vars(function).pop("dispatcher", None)


def test_on_simt_nothing_is_compiled(monkeypatch):
    from course_lib.gpu import DeviceError

    monkeypatch.setattr(kernel_module, "choice", lambda: Choice("simt", "pretended"))
    with pytest.raises(DeviceError, match="add is not compiled here"):
        _ = kernel_module.Kernel(kernels.add.py_func, {"device": False}).dispatcher

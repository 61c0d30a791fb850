"""After gpu.use(), numba.cuda itself answers without a GPU; after a `with` block all is Numba's own again."""

import inspect
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.choice import GPU, SIMT, choose
from tests.gpu.devices import DEVICE, needs_gpu, needs_simt

numba = pytest.importorskip("numba")
cuda = pytest.importorskip("numba.cuda")
PUBLIC = Path(__file__).parent / "public"
SIMT_NAME = "SIMT executor (no GPU)"

if DEVICE == SIMT:
    from numba.cuda.dispatcher import CUDADispatcher
    from numba.cuda.kernels.reduction import Reduce
    from numba.np.ufunc.decorators import GUVectorize, Vectorize

    from course_lib.cuda.host import refused, switch

    NAMES = [(part, name) for part, names in switch.NAMES.items() for name in names]
else:
    NAMES = []


@pytest.fixture
def used():
    """Numba's names are answered by the SIMT executor within a test."""
    with gpu.use() as name:
        yield name


def plain(value):
    """Return a result of a program as JSON has it."""
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype) if value.dtype.names else value.dtype.str, list(value.shape), value.tolist()]
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.item() if isinstance(value, np.generic) else value


# ------------------------------------------------------------------------------------------- whole programs


@needs_simt
@pytest.mark.parametrize("program", ["first_steps", "ufuncs", "arrays"])
@pytest.mark.filterwarnings("ignore")
def test_a_public_program_gives_what_it_gave_on_an_h200(used, program):
    file = PUBLIC / f"{program}.py"
    scope = {"__name__": program}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), scope)
    measured = json.loads((PUBLIC / "h200.json").read_text(encoding="utf-8"))[file.name]
    assert sorted(scope["RESULTS"]) == sorted(measured)
    for name, result in scope["RESULTS"].items():
        assert plain(result) == measured[name], name


@needs_gpu
def test_with_a_gpu_nothing_is_changed():
    before = dict(vars(cuda))
    with gpu.use() as name:
        assert dict(vars(cuda)) == before
    assert name == gpu.device_name()


@needs_simt
@pytest.mark.parametrize(
    ("lines", "last"),
    [
        ("from course_lib import gpu; gpu.use(); import numba; from numba import cuda", "6"),
        ("import numba; from numba import cuda; from course_lib import gpu; gpu.use()", "6"),
        ("import numba.cuda; from course_lib import gpu; gpu.use(); cuda = numba.cuda", "6"),
    ],
)
def test_the_order_of_imports_does_not_matter(lines, last):
    program = f"{lines}\nprint(cuda.is_available(), int(cuda.to_device([1, 2, 3]).copy_to_host().sum()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["True", last]


@needs_simt
def test_a_gpu_that_is_asked_for_and_not_there_is_told():
    program = "from course_lib import gpu\ntry:\n    gpu.use()\nexcept gpu.DeviceError as e:\n    print(e)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"COURSE_DEVICE": "gpu"}, capture_output=True, text=True,
        check=True, timeout=120,
    )  # fmt: skip
    assert "COURSE_DEVICE=gpu, but Numba finds no CUDA GPU" in done.stdout


# ------------------------------------------------------------------------------------------- in force, and back


def state():
    """Return all that gpu.use() changes."""
    registries = [(dict(c.target_registry), dict(c.target_registry.ondemand)) for c in (Vectorize, GUVectorize)]
    return dict(vars(cuda)), dict(vars(cuda.api)), dict(vars(CUDADispatcher)), dict(vars(Reduce)), registries


@needs_simt
def test_after_the_block_all_is_numbas_own_again():
    before = state()
    with gpu.use():
        assert state() != before
        assert cuda.is_available()
    assert state() == before
    assert not cuda.is_available()
    with pytest.raises(cuda.CudaSupportError):
        cuda.to_device(np.ones(3))


@needs_simt
def test_an_inner_block_leaves_in_force_what_was_before(used):
    with gpu.use() as name:
        assert name == used == SIMT_NAME
    assert switch.in_force()
    assert cuda.is_available()


@needs_simt
def test_the_choice_of_a_device_still_asks_numba_itself(used):
    assert choose({}).device == SIMT
    assert choose({}, lambda: (GPU, "there is one")).device == GPU


@needs_simt
def test_names_that_were_imported_before_answer_too():
    earlier = types.ModuleType("earlier")
    exec("from numba.cuda import jit, to_device, synchronize, gpus\nfrom numba import vectorize", vars(earlier))
    sys.modules["earlier"] = earlier
    numbas = earlier.to_device

    @earlier.jit
    def double(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] *= 2

    try:
        with gpu.use():
            device = earlier.to_device(np.arange(5))
            double[1, 32](device)
            np.testing.assert_array_equal(device.copy_to_host(), 2 * np.arange(5))
            assert len(earlier.gpus) == 1

            @earlier.jit("void(int32[:], int32)")
            def zeros_of(out, x):
                out[cuda.grid(1)] = cuda.clz(x)

            out = earlier.to_device(np.zeros(2, np.int32))
            zeros_of[1, 2](out, 0x00100000)
            np.testing.assert_array_equal(out.copy_to_host(), 11)

            @earlier.vectorize(["int64(int64)"], target="cuda")
            def successor(x):
                return x + 1

            np.testing.assert_array_equal(successor(np.arange(3)), [1, 2, 3])
        assert earlier.to_device is numbas
    finally:
        del sys.modules["earlier"]


@needs_simt
@pytest.mark.parametrize(("part", "name"), NAMES)
def test_every_answer_has_numbas_parameters(used, part, name):
    ours = vars(cuda)[name]
    assert "course_lib" in (getattr(ours, "__module__", None) or type(ours).__module__)
    if inspect.isfunction(ours):
        own, numbas = inspect.signature(ours), inspect.signature(ours.numbas)
        assert [(p.name, p.default) for p in own.parameters.values()] == [
            (p.name, p.default) for p in numbas.parameters.values()
        ]


@needs_simt
def test_every_name_of_the_host_api_is_answered_or_refused():
    from numba.cuda import api

    own = {name for name, value in vars(api).items() if getattr(value, "__module__", "") == api.__name__}
    left = own - {name for _, name in NAMES} - set(refused.REASONS)
    assert left <= {
        "is_float16_supported",
        "is_bfloat16_supported",
        "_contiguous_strides_like_array",
        "_order_like_array",
    }


# ------------------------------------------------------------------------------------------- kernels


def bump(a, by):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += by


@needs_simt
def test_a_launch_keeps_a_report_as_gpu_jit_does(used):
    kernel = cuda.jit(bump)
    assert kernel.report is None
    kernel[2, 32](cuda.to_device(np.zeros(40, np.float32)), np.float32(1))
    assert kernel.report.to_dict()["kernel"] == "bump"
    assert kernel.last_report is kernel.report
    assert kernel.py_func is bump


@needs_simt
def test_a_mistake_in_a_kernel_is_told_as_with_gpu_jit(used):
    from course_lib import simt

    @cuda.jit
    def beyond(a):
        a[cuda.grid(1)] = 1

    with pytest.raises(simt.HazardFound, match=r"thread \(?3"):
        beyond[1, 32](cuda.to_device(np.zeros(3)))
    with gpu.collect_hazards():
        beyond[1, 32](cuda.to_device(np.zeros(3)))
    assert [h.kind for h in beyond.report.hazards] == ["out of bounds"]


@needs_simt
def test_a_launch_without_a_configuration_is_told_in_numbas_words(used):
    with pytest.raises(ValueError, match="Kernel launch configuration was not specified"):
        cuda.jit(bump)(np.zeros(3), 1)
    with pytest.raises(ValueError, match="Kernel launch configuration was not specified"):
        cuda.jit(bump)[None, 32]


@needs_simt
@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (lambda k: k[1, 32](np.zeros(3)), r"takes 2 argument\(s\) and got 1"),
        (lambda k: k[0, 32](np.zeros(3), 1), "grid is 0"),
        (lambda k: k[1, 2048](np.zeros(3), 1), "2,048 threads"),
        (lambda k: k[1.5, 32](np.zeros(3), 1), "round up"),
        (lambda k: k[1, 32, 0, 10**6](np.zeros(3), 1), "1,000,000 bytes"),
        (lambda k: k.forall(-1), "negative task count"),
        (lambda k: k[1, 32](np.zeros((4, 4))[:, ::2], 1), "non-contiguous buffer"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_launch_that_no_gpu_takes_is_told(used, launch, words):
    with pytest.raises(ValueError, match=words):
        launch(cuda.jit(bump))


@needs_simt
@pytest.mark.filterwarnings("ignore")
def test_host_arrays_come_back_changed_and_hints_are_kept(used):
    kernel = cuda.jit(bump)
    for hint, after in ((None, 3), (cuda.InOut, 3), (cuda.In, 1)):
        for order in "CF":
            a = np.asarray(np.ones((4, 2)), order=order)
            flat = a.ravel(order="K")
            kernel[1, 8](flat if hint is None else hint(flat), 2)
            np.testing.assert_array_equal(a, after)


@needs_simt
@pytest.mark.filterwarnings("ignore")
def test_one_host_array_passed_twice_is_two_copies_as_in_numba(used):
    @cuda.jit
    def shift(source, target):
        i = cuda.grid(1)
        if 0 < i < source.size:
            target[i] = source[i - 1]

    a = np.arange(6)
    shift[1, 32](a, a)
    np.testing.assert_array_equal(a, [0, 0, 1, 2, 3, 4])


@needs_simt
def test_what_out_does_not_write_is_told(used):
    kernel = cuda.jit(bump)
    with pytest.raises(Exception, match=r"nobody has written yet"):
        kernel[1, 8](cuda.Out(np.ones(4)), 2)


@needs_simt
def test_a_copy_hidden_in_a_launch_is_warned_of_at_the_callers_line(used):
    with pytest.warns(numba.NumbaPerformanceWarning, match="Host array used in CUDA kernel") as warned:
        cuda.jit(bump)[1, 8](np.ones(4), 2)
    assert [w.filename for w in warned] == [__file__]


@needs_simt
def test_extensions_of_a_kernel_prepare_its_arguments(used):
    class Halves:
        def prepare_args(self, ty, val, stream, retr):
            return (ty, val / 2) if isinstance(val, float) else (ty, val)

    a = cuda.to_device(np.zeros(3))
    cuda.jit(extensions=[Halves()])(bump)[1, 8](a, 5.0)
    np.testing.assert_array_equal(a.copy_to_host(), 2.5)


@needs_simt
def test_every_option_of_jit_is_taken(used):
    a = cuda.to_device(np.zeros(3))
    for options in (
        {"fastmath": True}, {"lineinfo": True}, {"max_registers": 32}, {"opt": False, "debug": True}, {"cache": True},
        {"inline": "never"}, {"link": []}, {"launch_bounds": (256, 2)},
    ):  # fmt: skip
        cuda.jit(**options)(bump)[1, 8](a, 1)
    np.testing.assert_array_equal(a.copy_to_host(), 8)


@needs_simt
def test_signatures_of_jit_are_kept_and_honoured(used):
    from numba import int32, void

    for declared in ("void(int32[:], int32)", void(int32[:], int32), (int32[:], int32), [void(int32[:], int32)]):
        kernel = cuda.jit(declared)(bump)
        a = cuda.to_device(np.zeros(3, np.int32))
        kernel[1, 8](a, 2**32 + 5)
        np.testing.assert_array_equal(a.copy_to_host(), 5)
        assert len(kernel.overloads) == 1
        with pytest.raises(TypeError, match=r"int32\[:\]"):
            kernel[1, 8](cuda.to_device(np.zeros(3)), 1)
    with pytest.raises(TypeError, match="void return type"):
        cuda.jit("int32(int32[:], int32)")(bump)


@needs_simt
def test_kernels_of_both_kinds_share_arrays(used):
    mine, numbas = gpu.jit(bump), cuda.jit(bump)
    for array in (cuda.to_device(np.zeros(3)), gpu.to_device(np.zeros(3))):
        mine[1, 8](array, 1)
        numbas[1, 8](array, 2)
        np.testing.assert_array_equal(gpu.to_host(array), 3)
    from course_lib import simt

    a = cuda.to_device(np.zeros(3))
    simt.run(numbas, 1, 8, (a, 4))
    assert gpu.simulate(numbas, 1, 8, a, 4).hazards == []
    np.testing.assert_array_equal(a.copy_to_host(), 4)
    with pytest.raises(TypeError, match="single elements"):
        gpu.to_device(np.zeros(3))[0]  # the course's own stay strict


@needs_simt
def test_memory_that_nobody_wrote_is_known_by_its_views_too(used):
    from course_lib import simt

    @cuda.jit
    def count_positive(a, count):
        i = cuda.grid(1)
        if i < a.size and a[i] > 0:
            cuda.atomic.add(count, 0, 1)

    count = cuda.to_device(np.zeros(1, np.int32))
    a = cuda.device_array((2, 3))
    a[0] = 1
    count_positive[1, 8](a[0], count)
    for part in (a[1], a.T[0], a.reshape(6), a[:, 1]):
        with pytest.raises(simt.HazardFound):
            count_positive[1, 8](part, count)
    a[1:].copy_to_device(np.ones((1, 3)))
    count_positive[1, 8](a.reshape(6), count)
    assert count[0] >= 9


@needs_simt
@pytest.mark.parametrize("name", refused.INSPECTED if DEVICE == SIMT else [])
def test_what_a_compiler_would_show_is_told_to_need_a_gpu(used, name):
    kernel = cuda.jit(bump)
    if not hasattr(CUDADispatcher, name):
        pytest.skip(f"this version of Numba has no {name}")
    with pytest.raises(cuda.CudaSupportError, match=rf"bump\.{name}\(\) has nothing to show"):
        getattr(kernel, name)()


@needs_simt
@pytest.mark.parametrize("name", refused.REASONS if DEVICE == SIMT else [])
def test_what_takes_a_gpu_says_so_and_what_to_do(used, name):
    with pytest.raises(cuda.CudaSupportError, match=rf"cuda\.{name} needs a GPU: .*machine with a GPU"):
        getattr(cuda, name)("something")


# ------------------------------------------------------------------------------------------- the device


@needs_simt
def test_the_device_has_an_h200s_limits_and_an_honest_name(used, capsys):
    device = cuda.get_current_device()
    assert (device.name, device.compute_capability, device.MULTIPROCESSOR_COUNT) == (SIMT_NAME, (9, 0), 132)
    assert (device.MAX_THREADS_PER_BLOCK, device.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) == (1024, 227 * 1024)
    assert not hasattr(device, "MAX_THREADS_PER_BLOC")
    assert cuda.detect() is True
    shown = capsys.readouterr().out
    assert "Found 1 CUDA devices" in shown
    assert SIMT_NAME in shown
    assert cuda.runtime.get_version() == (13, 0)
    assert cuda.cuda_error() is None


@needs_simt
def test_more_indices_than_axes_are_an_index_error_as_numbas(used):
    device = cuda.to_device(np.zeros(3))
    for index in ((slice(None), None), (0, 0)):
        with pytest.raises(IndexError, match="of 1 axes was given 2 indices"):
            device[index]
    with pytest.raises(TypeError, match="whole numbers and slices, as in Numba, not by None"):
        device[None]


@needs_simt
def test_there_is_one_device(used):
    assert (len(cuda.gpus), len(cuda.list_devices()), str(cuda.gpus)) == (1, 1, "<Managed Device 0>")
    with cuda.gpus[0]:
        assert cuda.gpus.current is cuda.select_device(0) is cuda.current_context().device
    for wrong in (lambda: cuda.gpus[1], lambda: cuda.select_device(1), lambda: cuda.current_context(2)):
        with pytest.raises(IndexError):
            wrong()
    info = cuda.current_context().get_memory_info()
    assert info.free <= info.total
    with pytest.raises(cuda.CudaSupportError, match="a context's memalloc needs a GPU"):
        cuda.current_context().memalloc(16)


@needs_simt
def test_what_waits_or_cleans_up_has_nothing_to_do(used):
    with cuda.defer_cleanup(), cuda.profiling(), cuda.pinned(np.zeros(3)):
        cuda.profile_start()
        cuda.profile_stop()
        cuda.synchronize()
    cuda.close()
    assert cuda.require_context(bump).__name__ == "bump"
    assert cuda.is_supported_version()


@needs_simt
def test_streams_call_back_and_can_be_awaited(used):
    import asyncio

    stream, calls = cuda.stream(), []
    stream.add_callback(lambda *a: calls.append(a), 7)
    assert calls == [(stream, 0, 7)]
    with pytest.warns(UserWarning, match="Exception in stream callback: division"):
        stream.add_callback(lambda s, status, arg: 1 / 0)

    async def wait():
        return await stream.async_done()

    assert asyncio.run(wait()) is stream
    assert int(cuda.default_stream()) == 0
    assert "default" in repr(cuda.legacy_default_stream())
    assert cuda.per_thread_default_stream() is cuda.per_thread_default_stream()
    assert int(cuda.external_stream(4096)) == 4096


@needs_simt
def test_events_keep_the_time_of_the_host(used):
    first, second = cuda.event(), cuda.event()
    first.record()
    second.record(cuda.stream())
    first.wait(cuda.stream())
    second.synchronize()
    assert first.query()
    assert 0 <= first.elapsed_time(second) < 60_000
    for early in (cuda.event(), cuda.event(timing=False)):
        if not early.timing:
            early.record()
        with pytest.raises(gpu.DeviceError, match="has no time"):
            cuda.event_elapsed_time(first, early)


# ------------------------------------------------------------------------------------------- arrays


@needs_simt
def test_mapped_and_managed_arrays_are_used_in_place(used):
    for make in (cuda.mapped_array, cuda.managed_array):
        array = make((2, 3), np.float32, order="F")
        array[:] = 1
        cuda.jit("void(float32[:], float32)")(bump)[1, 8](array.T.reshape(-1), 2)
        np.testing.assert_array_equal(array, 3)
        assert cuda.is_cuda_array(array)
        np.testing.assert_array_equal(array.copy_to_host(), 3)
    host = np.zeros(4)
    with cuda.mapped(host) as device:
        cuda.jit(bump)[1, 8](device, 5)
    np.testing.assert_array_equal(host, 5)
    with cuda.mapped(host, host.copy(), stream=cuda.stream()) as two:
        assert len(two) == 2


@needs_simt
def test_an_array_has_no_address_that_another_library_could_use(used):
    a = cuda.to_device(np.ones(3))
    assert not hasattr(a, "__cuda_array_interface__")
    for attempt in (lambda: a.device_ctypes_pointer, a.as_cuda_arg, a.get_ipc_handle):
        with pytest.raises(cuda.CudaSupportError):
            attempt()
    other = types.SimpleNamespace(__cuda_array_interface__={})
    with pytest.raises(cuda.CudaSupportError, match="GPU's memory"):
        cuda.as_cuda_array(other)


@needs_simt
def test_records_are_read_and_written_by_field(used):
    a = cuda.to_device(np.zeros(3, [("a", np.int32), ("b", np.float64)]))
    a[1]["b"] = 2.5
    np.testing.assert_array_equal(a.copy_to_host()["b"], [0, 2.5, 0])


# ------------------------------------------------------------------------------------------- ufuncs


@needs_simt
def test_a_ufunc_may_leave_its_result_type_to_numba(used):
    @numba.vectorize(["(int32, int32)", "(float32, int32)"], target="cuda")
    def mixed(a, b):
        return a * b

    assert mixed(np.ones(3, np.int32), np.ones(3, np.int32)).dtype == np.int64
    assert mixed(np.ones(3, np.float32), np.ones(3, np.int32)).dtype == np.float64
    assert mixed.report.hazards == []


@needs_simt
def test_a_ufunc_warns_where_numba_takes_first_elements_only(used):
    @numba.vectorize(["float64(float64, float64)"], target="cuda")
    def add(a, b):
        return a + b

    with pytest.warns(UserWarning, match=r"an array with 1 axes meets one with 2: on a GPU too"):
        np.testing.assert_array_equal(add(np.zeros((2, 3)), np.arange(3.0)), 0)


@needs_simt
def test_a_mistake_in_a_ufunc_is_told_with_its_line(used):
    from course_lib import simt

    @numba.vectorize(["float64(float64)"], target="cuda")
    def wrong(a):
        return a.nothing

    with pytest.raises(simt.KernelError, match=r"line \d+"):
        wrong(np.ones(3))


@needs_simt
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: numba.vectorize(["float64(float64)"], target="cuda")(bump), "has 2 parameters"),
        (lambda: numba.vectorize(["float64(foo, int32)"], target="cuda")(bump), "no type"),
        (lambda: numba.guvectorize(["void(float64[:], int32)"], "(n)->()", target="cuda")(bump), None),
        (lambda: numba.guvectorize(["int32(float64[:], int32[:])"], "(n)->()", target="cuda")(bump), "cannot return"),
        (lambda: numba.guvectorize(["void(float64[:,:], int32[:])"], "(n)->(n)", target="cuda")(bump), "mismatch"),
        (lambda: numba.vectorize(["float64(float64, int32)"], target="cuda", cache=True)(bump), "caching"),
    ],
)
def test_a_ufunc_that_does_not_fit_its_signature_is_refused(used, make, words):
    if words is None:
        assert make().__name__ == "bump"
        return
    with pytest.raises((TypeError, ValueError), match=words):
        make()


@needs_simt
def test_a_reduction_made_before_works_too():
    total = cuda.Reduce(lambda a, b: a + b)
    with gpu.use():
        assert total(np.arange(1000)) == 499500
        assert total(cuda.to_device(np.arange(1000)), init=5) == 499505

"""cuDNN is asked for an algorithm with the right numbers; what it refuses is no rival. A stand-in plays cuDNN."""

import ctypes
from types import SimpleNamespace

import pytest

from course_lib.bench.gpu import with_cudnn
from course_lib.bench.gpu.with_cudnn import FFT, FFT_TILING, FORCED, NoRival, refuses

NOT_SUPPORTED, EXECUTION_FAILED = 3000, 5000


class Tensor:
    """As much of a tensor as is asked for: memory without gaps at some address."""

    dtype = "torch.float32"

    def __init__(self, *shape, address=4096):
        self.shape, self.address = tuple(shape), address

    def data_ptr(self):
        return self.address

    def is_contiguous(self):
        return True

    def new_empty(self, *shape):
        shape = shape[0] if isinstance(shape[0], tuple) else shape
        return Tensor(*shape, address=self.address + 4096)

    def reshape(self, *shape):
        return self


class Library:
    """Notes what is called, with plain numbers; answers by `status`, a dict of functions' names."""

    def __init__(self, status=(), workspace=100):
        self.calls, self.status, self.workspace, self.made = [], dict(status), workspace, 0

    def __getattr__(self, name):
        if not name.startswith("cudnn"):
            raise AttributeError(name)

        def function(*arguments):
            if name == "cudnnGetErrorString":
                return b"WHY"
            if name.startswith("cudnnCreate"):
                self.made += 1
                arguments[0]._obj.value = self.made
            if name.endswith("WorkspaceSize"):
                arguments[-1]._obj.value = self.workspace
            self.calls.append((name, *(_plain(a) for a in arguments)))
            return self.status.get(name, 0)

        return function

    def of(self, name):
        return [call[1:] for call in self.calls if call[0] == name]


def _plain(argument):
    return getattr(getattr(argument, "_obj", argument), "value", argument)


@pytest.fixture
def library(monkeypatch):
    def install(**options):
        made = Library(**options)
        monkeypatch.setattr(with_cudnn, "_library", lambda: made)
        monkeypatch.setattr(with_cudnn, "_handle", lambda: ctypes.c_void_p(77))
        return made

    return install


def forward():
    return with_cudnn.forward(Tensor(10, 6, 14, 14), Tensor(16, 6, 5, 5), 1, 2)


def backward_data():
    return with_cudnn.backward_data(Tensor(10, 16, 14, 14), Tensor(16, 6, 5, 5), (10, 6, 14, 14), 1, 2)


def backward_weights():
    return with_cudnn.backward_weights(Tensor(10, 16, 14, 14), Tensor(10, 6, 14, 14), (16, 6, 5, 5), 1, 2)


DIRECTIONS = {  # direction: rivals, {name: cuDNN's number}, where it stands among the arguments, the outputs' shapes
    "Forward": (forward, {FFT: 4, FFT_TILING: 5}, 7, [(10, 16, 14, 14)]),
    "BackwardData": (backward_data, {FFT: 2, FFT_TILING: 3}, 7, [(10, 6, 14, 14)]),
    "BackwardFilter": (backward_weights, {FFT: 2, FFT_TILING: 6}, 7, [(16, 6, 5, 5), (1, 16, 1, 1)]),
}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", FORCED)
def test_each_direction_is_called_with_the_algorithm_and_its_workspace(library, direction, name):
    rivals, numbers, place, shapes = DIRECTIONS[direction]
    cudnn = library(workspace=4097)
    player = rivals()[name]()
    (asked,) = cudnn.of(f"cudnnGetConvolution{direction}WorkspaceSize")
    assert asked[-2] == numbers[name]
    assert not cudnn.of(f"cudnnConvolution{direction}"), "nothing runs before the first call"
    outputs = player.calls[0]()
    assert [out.shape for out in outputs] == shapes
    (run,) = cudnn.of(f"cudnnConvolution{direction}")
    assert len(run) == 13
    assert (run[0], run[1], run[place], run[9]) == (77, 1.0, numbers[name], 4097)
    assert run[10] == 0.0, "the result is not added to what is there"


def test_the_convolution_is_described_without_flips_gaps_or_tf32(library):
    cudnn = library()
    forward()[FFT]()
    tensors = [c[1:] for c in cudnn.of("cudnnSetTensor4dDescriptor")]
    assert tensors == [(0, 0, 10, 6, 14, 14), (0, 0, 10, 16, 14, 14)]
    assert [c[1:] for c in cudnn.of("cudnnSetFilter4dDescriptor")] == [(0, 0, 16, 6, 5, 5)]
    assert [c[1:] for c in cudnn.of("cudnnSetConvolution2dDescriptor")] == [(2, 2, 1, 1, 1, 1, 1, 0)]
    assert [c[1:] for c in cudnn.of("cudnnSetConvolutionMathType")] == [(3,)]


def test_the_gradient_of_the_bias_belongs_to_the_masks(library):
    cudnn = library()
    backward_weights()[FFT]().calls[0]()
    assert [name for name, *_ in cudnn.calls][-2:] == ["cudnnConvolutionBackwardFilter", "cudnnConvolutionBackwardBias"]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_what_is_not_supported_is_no_rival_and_another_error_is_one(library, direction):
    ask = f"cudnnGetConvolution{direction}WorkspaceSize"
    rivals = DIRECTIONS[direction][0]
    library(status={ask: NOT_SUPPORTED})
    with pytest.raises(NoRival, match=rf"{ask} answers 3000, WHY"):
        rivals()[FFT]()
    library(status={ask: EXECUTION_FAILED})
    with pytest.raises(RuntimeError, match="answers 5000"):
        rivals()[FFT]()


def test_old_and_new_versions_say_not_supported_with_other_numbers():
    assert [status for status in (0, 3, 8, 9, 2000, 3000, 3004, 4000, 5000) if refuses(status)] == [9, 3000, 3004]


def test_a_tensor_with_gaps_or_of_another_type_is_refused(library):
    library()
    tensor = SimpleNamespace(dtype="torch.float16", shape=(1, 1, 2, 2), is_contiguous=lambda: True)
    with pytest.raises(TypeError, match="must be float32 without gaps"):
        with_cudnn.tensor_of(tensor)
    gaps = SimpleNamespace(dtype="torch.float32", shape=(1, 1, 2, 2), is_contiguous=lambda: False)
    with pytest.raises(TypeError, match="must be float32 without gaps"):
        with_cudnn.filter_of(gaps)

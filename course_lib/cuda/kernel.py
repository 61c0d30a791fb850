"""Kernels and device functions: Numba-CUDA source that is launched on this process's device.

Source: Numba's documentation, "CUDA Kernel API". On a GPU Numba compiles it, at the first launch with arguments of new
types; without one, the SIMT executor reads its source.
"""

import functools
import inspect
from contextlib import suppress

from course_lib.cuda.array_checks import check_arguments
from course_lib.cuda.choice import GPU, SIMULATOR, DeviceError
from course_lib.cuda.device import choice, executor
from course_lib.cuda.launch_checks import LaunchError, check_launch, check_shared, check_stream
from course_lib.cuda.tracebacks import OneLine, shortened
from course_lib.cuda.unroll import compiled_form
from course_lib.kernel_cache import kept

CALL = "kernel[grid, block](...), or kernel[grid, block, stream, shared_bytes](...)"


class _Jitted:
    """A function with what Numba makes of it, when that is needed. As in Numba, kernels may call either kind."""

    def __init__(self, function, options):
        self.py_func, self.options = function, options
        self.signatures, self.declared = (), None
        functools.update_wrapper(self, function)

    @functools.cached_property
    def dispatcher(self):
        """What numba.cuda.jit makes of the function: on a GPU, or on Numba's simulator, which ignores the options."""
        from course_lib.cuda.numba_cuda import cuda

        chosen = choice().device
        if chosen not in (GPU, SIMULATOR):
            raise DeviceError(
                f"{self.__name__} is not compiled here: kernels run on the SIMT executor", f"Write {CALL}."
            )
        if chosen == SIMULATOR:
            return cuda.jit(device=self.options["device"])(self.py_func)
        function, on_disk = compiled_form(self.py_func, self.options.get("cache", False), self.made_from)
        options = {name: value for name, value in self.options.items() if name != "cluster"}
        return kept(cuda.jit(self.declared, **{**options, "cache": on_disk})(function))

    @property
    def made_from(self):
        """The options, and the declared types if there are any: other ones are other machine code."""
        return {**self.options, "signatures": [*map(str, self.signatures)]} if self.signatures else self.options

    def expanded(self):
        """Return the function that Numba compiles: `py_func` with its `unroll` loops written out. No errors."""
        return compiled_form(self.py_func)[0]

    @property
    def _numba_type_(self):
        """For Numba, when it compiles a kernel that names this object: the type of its own dispatcher."""
        return self.dispatcher._numba_type_

    def __call__(self, *arguments, **named):
        if choice().device == SIMULATOR and executor().in_kernel():
            return executor().call(self.py_func, arguments)
        raise LaunchError(self._no_call)

    def __reduce__(self):
        """For the disk cache of a kernel that names this object: the text and the options, not what became of them."""
        return type(self), (self.py_func, self.options), {"signatures": self.signatures, "declared": self.declared}


class DeviceFunction(_Jitted):
    """A function that kernels call, made by gpu.jit(device=True).

    `py_func` is the Python function, to try its formula on the host. Source: Numba's documentation, "Device functions".
    """

    @property
    def _no_call(self):
        name = self.__name__
        return f"{name} is a device function: only kernels call it. To try it here: {name}.py_func(...)."

    def __getitem__(self, configuration):
        raise LaunchError(f"{self.__name__} is a device function: kernels call it. To launch it, write @gpu.jit alone.")

    def __repr__(self):
        return f"<device function {self.__name__}{inspect.signature(self.py_func)}>"


class Kernel(_Jitted):
    """A kernel, launched by kernel[grid, block](...), or kernel[grid, block, stream, shared_bytes](...).

    `grid` and `block` are whole numbers or tuples of up to three, `stream` is gpu.stream() or 0, `shared_bytes` is the
    size of the dynamic shared memory of a block. `py_func` is the Python function.

    A launch raises LaunchError or TypeError for what no kernel takes, and on the SIMT executor simt.KernelError or
    simt.HazardFound for what goes wrong inside. After these, or an interrupt, arrays hold what was written until
    then, and the kernel can be launched again. Source: Numba's documentation, "CUDA Kernel API".
    """

    def __init__(self, function, options):
        super().__init__(function, options)
        self.parameters = tuple(inspect.signature(function).parameters)
        self.last_report = None
        self._launches = {}

    def __getitem__(self, configuration):
        recording = executor().recording is not None
        try:  # types too: 4.0 == 4, and the one is a grid, the other an error
            key = configuration, type(configuration[0]), type(configuration[1])
            if not recording:
                return self._launches[key]
        except (KeyError, TypeError, IndexError):
            pass
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise LaunchError(f"{self.__name__}[{configuration!r}] is no launch configuration; write {CALL}.")
        grid, block = check_launch(*configuration[:2])
        stream, shared = (*configuration[2:], *(0, 0)[len(configuration) - 2 :])
        stream, shared = check_stream(stream), check_shared(shared, executor().shared_limit)
        launch = Launch(self, executor().launcher(self, grid, block, stream, shared), (grid, block, shared))
        if recording:  # of this recording only
            return launch
        if len(self._launches) >= 256:  # streams come and go
            self._launches.clear()
        with suppress(TypeError):  # a list has no hash
            self._launches[key] = launch
        return launch

    @property
    def _no_call(self):
        return f"{self.__name__} is a kernel: say how many threads. Write {CALL}."

    def forall(self, count, tpb=0, stream=0, sharedmem=0):
        """Return the launch of at least `count` threads on one axis, `tpb` a block (default 256). LaunchError as usual.

        Source: Numba's documentation, "forall".
        """
        (threads, *_), (block, *_) = check_launch(count, tpb or 256)
        return self[-(-threads // block), block, stream, sharedmem]

    @property
    def report(self):
        """The simt.Report of the last launch on the SIMT executor; None before one, or if it could not be run.

        Raises
        ------
        DeviceError
            If kernels run elsewhere: a GPU keeps no record. `simulate` makes a report on any machine.
        """
        if not executor().reports:
            raise DeviceError(
                f"{executor().name} keeps no report",
                f"Write gpu.simulate({self.__name__}, grid, block, ...) for one, or set COURSE_DEVICE=simt before "
                "Python starts.",
            )
        return self.last_report

    def __repr__(self):
        return f"<kernel {self.__name__}{inspect.signature(self.py_func)}>"


class Launch:
    """A kernel with its `configuration` (grid, block, shared bytes), to be called with arguments; made by kernel[...].

    Source: Numba's documentation, "Kernel invocation".
    """

    __slots__ = ("configuration", "kernel", "start")

    def __init__(self, kernel, start, configuration):
        self.kernel, self.start, self.configuration = kernel, start, configuration

    def __call__(self, *arguments, **named):
        kernel = self.kernel
        kernel.last_report = None
        if named:
            raise LaunchError(f"{kernel.__name__} got {', '.join(named)} by name; a kernel's arguments go by position.")
        check_arguments(kernel.__name__, kernel.parameters, arguments, executor())
        try:
            self.start(*arguments)
        except OneLine as error:
            raise shortened(error) from None

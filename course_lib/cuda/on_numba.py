"""Copies and launches through Numba: on a GPU, or on the simulator that is part of Numba.

Source: Numba's documentation, "CUDA Python" and "CUDA simulator".
"""

import weakref

import numpy as np

from course_lib.cuda import fastrange
from course_lib.cuda.choice import DeviceError
from course_lib.cuda.graph import rerun
from course_lib.cuda.numba_cuda import COMPILER, HAS_PACKAGE, MLIR, SIMULATOR, cuda, quiet_small_grids

POOLED = not SIMULATOR and COMPILER != MLIR
"""Whether the pool of device memory can be had, a plug-in of Numba's driver; recorded graphs need it."""

if POOLED:
    from course_lib.cuda.pool import GraphMemory, Pool

THIN = POOLED and HAS_PACKAGE
"""Whether the driver can be called beside Numba, to launch and to record graphs; NVIDIA's package has the binding."""

if THIN:
    from numba.cuda.cudadrv.devicearray import DeviceNDArray

    from course_lib.cuda.thin_copy import ThinCopies
    from course_lib.cuda.thin_launch import RecordedLaunch, ThinLaunch

STATIC_LIMIT = 48 * 1024
"""Bytes of shared memory a block that a GPU gives without being asked."""


class Numba:
    """What a GPU and the simulator have in common; `course_lib.cuda.device` calls these. Source: the course's own."""

    kinds = "biufc"
    tuples = True
    reports = False
    records = False
    recording = None
    """The `GraphNodes` that launches of the default stream go to, while they are recorded."""

    def owns(self, value):
        """Return whether a value is an array in device memory, Numba's or another library's."""
        return getattr(value, "__cuda_ndarray__", False) or hasattr(value, "__cuda_array_interface__")

    def as_array(self, value):
        """Return an array in device memory as one of Numba's: the same memory."""
        return value if hasattr(value, "copy_to_host") else cuda.as_cuda_array(value)

    def address(self, array):
        """Return where an array begins, in bytes."""
        if hasattr(array, "__cuda_array_interface__"):
            return array.__cuda_array_interface__["data"][0] or 0
        return array._ary.__array_interface__["data"][0]  # the simulator's

    def copy_in(self, host, stream):
        """Return a device array with the numbers and the layout of a host array."""
        return cuda.to_device(host, stream=stream)

    def constant(self, host):
        """Return a device array of numbers that stay as they are, copied at once, even while launches are recorded."""
        return self.copy_in(host, 0)

    def keep(self, array):
        """Let a device array live as long as what is being recorded, if anything is."""

    def copy_out(self, array, stream, out=None):
        """Return a host array with the numbers of a device array: `out`, if that is given."""
        return self.as_array(array).copy_to_host(out, stream=stream)

    def pinned(self, shape, dtype):
        """Return a host array in page-locked memory."""
        return cuda.pinned_array(shape, dtype) if 0 not in shape else np.empty(shape, dtype)

    def empty(self, shape, dtype):
        """Return a device array with whatever is in that memory."""
        return cuda.device_array(shape, dtype)

    def overwrite(self, array, host, stream):
        """Copy a host array into a device array of the same shape and dtype."""
        array.copy_to_device(host, stream=stream)

    def record(self, function, priority=None, first=True):
        """Return (what a graph's call does, what the function returned); nothing is recorded here: it is run again."""
        return rerun(function, first)

    def synchronize(self):
        """Wait for the device."""
        cuda.synchronize()

    def stream(self, priority=0):
        """Return a stream."""
        return cuda.stream()

    def event(self):
        """Return an event."""
        return cuda.event()


class Gpu(Numba):
    """A CUDA GPU. Source: Numba's documentation, "CUDA Python"."""

    records = THIN

    def __init__(self, card=0):
        fastrange.install()  # before the first kernel is compiled
        if POOLED:
            self._use_pool()
        if card:
            cuda.select_device(card)
        device = cuda.get_current_device()
        self.name = device.name.decode() if isinstance(device.name, bytes) else device.name
        self.shared_limit = max(STATIC_LIMIT, device.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
        self.copies = ThinCopies() if THIN else None

    def address(self, array):
        """Return where an array begins, in bytes."""
        if self.copies and type(array) is DeviceNDArray:  # what it tells other libraries is made anew at each look
            return array.device_ctypes_pointer.value or 0
        return super().address(array)

    def empty(self, shape, dtype):
        """Return a device array with whatever is in that memory."""
        return self.copies.empty(shape, dtype) if self.copies else super().empty(shape, dtype)

    def copy_in(self, host, stream):
        """Return a device array with the numbers and the layout of a host array."""
        if self.copies and host.flags.c_contiguous and host.size:
            array = self.copies.empty(host.shape, host.dtype, stream)
            if self.copies.to_device(array, host, stream):
                return array
        return super().copy_in(host, stream)

    def overwrite(self, array, host, stream):
        """Copy a host array into a device array of the same shape and dtype."""
        if not (self.copies and self.copies.to_device(array, host, stream)):
            super().overwrite(array, host, stream)

    def copy_out(self, array, stream, out=None):
        """Return a host array with the numbers of a device array: `out`, if that is given."""
        if self.copies and self.copies.takes(array):
            host = np.empty(array.shape, array.dtype) if out is None else out
            if self.copies.to_host(array, host, stream):
                return host
        return super().copy_out(array, stream, out)

    def _use_pool(self):
        """Let Numba take memory from the pool, unless the user chose a manager or the device is in use already."""
        from numba.core import config
        from numba.cuda.cudadrv import driver

        if driver._memory_manager is None and getattr(config, "CUDA_MEMORY_MANAGER", "default") == "default":
            cuda.set_memory_manager(Pool)

    def stream(self, priority=0):
        """Return a stream of this priority; the default stream waits for it, and it for the default stream."""
        if POOLED:
            Pool.several_streams = True
        if not HAS_PACKAGE or not priority:
            return cuda.stream()
        from cuda.core import Device, StreamOptions

        device = Device()
        device.set_current()
        made = device.create_stream(options=StreamOptions(nonblocking=False, priority=_within(priority)))
        stream = cuda.external_stream(int(made.handle))
        stream.owner = made  # it ends with this
        return stream

    def record(self, function, priority=None, first=True):
        """Return (what a graph's call does, what the recorded run returned); without the driver it is run again."""
        if not THIN:
            return rerun(function, first)
        from course_lib.cuda.graph_nodes import GraphNodes

        if self.recording is not None:
            raise DeviceError("a recording is going on already", "Record one function that calls both.")
        pool = cuda.current_context().memory_manager
        if not isinstance(pool, Pool):
            raise DeviceError(
                f"device memory is managed by {type(pool).__name__}, which does not keep a graph's arrays",
                "Import course_lib.gpu before anything uses the device, and unset NUMBA_CUDA_MEMORY_MANAGER.",
            )
        if first:
            function()  # compiles and loads what cannot be loaded while recording
        nodes, memory = GraphNodes(None if priority is None else _within(priority)), GraphMemory(pool)
        self.recording, pool.recording = nodes, memory
        try:
            result = function()
            nodes.finish()
        except BaseException:
            nodes.end()
            memory.end()
            raise
        finally:
            self.recording = pool.recording = None

        def replay(owner, stream):
            nodes.start(int(stream.handle) if stream else 0)

        weakref.finalize(replay, _end, nodes, memory)
        return replay, result

    def constant(self, host):
        """Return a device array of numbers that stay as they are, copied at once, even while launches are recorded."""
        if self.recording is None:
            return self.copy_in(host, 0)
        pool = cuda.current_context().memory_manager
        graph, pool.recording = pool.recording, None  # a graph's own memory may have another owner at each start
        try:
            return self.copy_in(host, 0)
        finally:
            pool.recording = graph

    def keep(self, array):
        """Let a device array live as long as what is being recorded, if anything is."""
        if self.recording is not None:
            self.recording.kept.append(array)

    def launcher(self, kernel, grid, block, stream, shared):
        """Return what launches `kernel`, made once for each configuration."""
        dispatcher = kernel.dispatcher
        recorded = self.recording if stream == 0 else None
        with quiet_small_grids():
            launch = dispatcher[grid, block, stream, shared]
        if recorded is not None:
            launch = RecordedLaunch(launch, shared, kernel, recorded)
        elif THIN:
            launch = ThinLaunch(launch, shared)
        if shared <= STATIC_LIMIT:
            return launch
        asked = set()

        def launch_with_more_shared_memory(*arguments):
            types = tuple(dispatcher.typeof_pyval(a) for a in arguments)
            if types not in asked:
                compiled = dispatcher.compile(types)
                _ask_for_shared_memory(compiled, shared)
                _ask_for_clusters(compiled, kernel.options.get("cluster", 1))
                asked.add(types)
            launch(*arguments)

        return launch_with_more_shared_memory


def _end(nodes, memory):
    nodes.end()
    memory.end()


def _within(priority):
    """Return the nearest priority that the card knows."""
    from cuda.bindings import driver

    error, lowest, highest = driver.cuCtxGetStreamPriorityRange()
    if error:
        raise RuntimeError(f"the driver does not say which priorities there are: {error.name}.")
    return min(max(priority, highest), lowest)


def _ask_for_shared_memory(compiled, count):
    """Let a compiled kernel take more than 48 KiB of dynamic shared memory, which Numba never asks for."""
    from cuda.bindings import driver

    from course_lib.cuda.thin_launch import driver_function

    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    (error,) = driver.cuFuncSetAttribute(driver_function(compiled), attribute, count)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(
            f"the driver refuses {count:,} bytes of dynamic shared memory: {error!r}. Static shared arrays count too; "
            "use smaller tiles."
        )


def _ask_for_clusters(compiled, blocks):
    """Let so many neighbouring blocks of a compiled kernel start together, where they copy to each other."""
    if blocks == 1:
        return
    from cuda.bindings import driver

    from course_lib.cuda.thin_launch import driver_function

    for side, count in (("WIDTH", blocks), ("HEIGHT", 1), ("DEPTH", 1)):
        attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_{side}")
        (error,) = driver.cuFuncSetAttribute(driver_function(compiled), attribute, count)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"the driver refuses clusters of {blocks} blocks: {error!r}.")


class Simulator(Numba):
    """Numba's simulator: each thread of a block a Python thread, one block after another, no types.

    Source: Numba's documentation, "CUDA simulator".
    """

    name = "Numba's simulator (no GPU)"
    shared_limit = 227 * 1024

    def __init__(self):
        from course_lib.cuda import simulator_arrays

        simulator_arrays.install()

    def launcher(self, kernel, grid, block, stream, shared):
        """Return a function of the arguments that launches `kernel`."""
        fake = kernel.dispatcher

        def launch(*arguments):
            fake[grid, block, stream, shared](*arguments)  # it remembers one configuration only: give it anew

        return launch

    def in_kernel(self):
        """Return whether the caller is a thread of a simulated kernel."""
        from numba.cuda.simulator import kernel

        return kernel._get_kernel_context() is not None

    def call(self, function, arguments):
        """Return what a function gives that a thread of a simulated kernel calls."""
        return cuda.jit(device=True)(function)(*arguments)

"""Ranks that are GPUs: sums and messages by NCCL, from device memory to device memory, without a copy.

MPI starts the processes and carries what lies on the host, such as NCCL's own id; CuPy is the binding. NCCL's work is
enqueued in a stream of its own, beside the layers': it waits there for the gradients by an event, and the optimiser's
step waits for it by another. The host never waits for NCCL itself, which would wait for a lost rank for ever: it asks
whether an event is done, with the patience that it has for messages.

Source: NVIDIA, "NCCL User Guide", "Collective Operations", "Group Calls", "Fault Tolerance"; CuPy's documentation,
"cupy.cuda.nccl".
"""

import contextlib

import numpy as np

from course_lib import cuda, gpu
from course_lib.cuda import device
from course_lib.cuda.operands import is_contiguous
from course_lib.parallel import recorded
from course_lib.parallel.agree import broadcast_bytes
from course_lib.parallel.buckets import buckets_of
from course_lib.parallel.world import World

INSTALL = "python -m pip install -e '.[gpu,cufft,mpi]' in the course folder; CuPy brings NCCL's binding"


class NcclWorld(World):
    """A rank that is a GPU. Device arrays go by NCCL, NumPy arrays by the world that it is made of.

    Its own sums of device arrays are NCCL's, whose order it does not promise; "ring", "tree" and "all_to_one" are ours,
    over NCCL's messages.

    Parameters
    ----------
    host : MpiWorld
    modules : pair, optional
        cupy and cupy.cuda.nccl, or what has the same names.

    Raises
    ------
    ImportError
        Without CuPy.
    DeviceError
        If this process has no GPU of its own, or used another one before it joined.

    Source: NVIDIA, "NCCL User Guide", "Creating a Communicator".
    """

    engine = "nccl"
    way = "engine"
    own_all_reduce = True

    def __init__(self, host, modules=None):
        super().__init__(host.rank, host.size, host.patience)
        self.host = host
        card = host.local_rank()
        device.take_card(card)
        self.device, self.ops = device.executor(), cuda  # the course's memory pool comes before CuPy's context
        self.cupy, self.nccl = cupy, nccl = modules or _load()
        self.types = {
            np.dtype(np.float32): nccl.NCCL_FLOAT32, np.dtype(np.int32): nccl.NCCL_INT32,
            np.dtype(np.int64): nccl.NCCL_INT64,
        }  # fmt: skip
        cupy.cuda.Device(card).use()
        self.beside, self.streams = cupy.cuda.Stream(non_blocking=True), {}
        number = nccl.get_unique_id() if self.rank == 0 else b""
        number = broadcast_bytes(host, number if isinstance(number, bytes) else bytes(n & 255 for n in number))
        if not isinstance(nccl.get_unique_id(), bytes):  # before CuPy 14 it was a tuple of signed numbers
            number = tuple(n - 256 if n > 127 else n for n in number)
        self.comm = nccl.NcclCommunicator(self.size, number, self.rank)
        host.barrier()

    def channel(self):
        """Return a channel of the host's messages: device arrays have one, in order, for all. As `World.channel`."""
        return self.host.channel()

    def gradients(self, net):
        """As `World.gradients`; TypeError if the network does not compute on the GPU."""
        if net.ops is not self.ops:
            raise TypeError(
                f"the network computes with {net.ops.__name__}; nccl sums what lies on GPUs. Build it with "
                "ops=course_lib.cuda, or use engine='mpi'."
            )
        return DeviceExchange(self, net)

    def device_sums(self):
        """As `World.device_sums`: this world itself."""
        return self

    # ----------------------------------------------------------------------------- sums behind a stream's work

    def start(self, arrays, flag=None, stream=None):
        """Enqueue the sums of float32 device arrays (...) over all ranks, in place, after what the stream has.

        A flag (1,) int32 becomes the largest of all ranks'. Nothing waits. No errors but NCCL's.
        Source: NVIDIA, "NCCL User Guide", "Group Calls" (all of them in one launch).
        """
        self._after(stream)
        with self._group():
            for array in arrays:
                self._sum(array, self.nccl.NCCL_SUM)
            if flag is not None:
                self._sum(flag, self.nccl.NCCL_MAX)

    def finish(self, stream=None):
        """Let the stream, or the default one, go on after the sums; return a mark for `wait`. No errors."""
        mark = self.cupy.cuda.Event(disable_timing=True)
        mark.record(self.beside)
        self._stream(stream).wait_event(mark)
        return mark

    def wait(self, mark):
        """Return when the device has come to a mark of `finish`, or to a `gpu.event()`.

        RankError if it does not in `patience` seconds, or a rank is gone; then NCCL is aborted, since it would wait for
        ever. Source: NVIDIA, "NCCL User Guide", "Fault Tolerance".
        """
        if mark is None:
            return
        try:
            with self.host._collective(self._doing or "a sum of gradients by NCCL"):
                self.host.wait_until(lambda: self._passed(mark))
        except BaseException:
            with contextlib.suppress(Exception):
                self.comm.abort()
            raise

    def _passed(self, mark):
        self.comm.check_async_error()
        return mark.done if hasattr(mark, "done") else mark.query()

    def _after(self, stream):
        ready = self.cupy.cuda.Event(disable_timing=True)
        ready.record(self._stream(stream))
        self.beside.wait_event(ready)

    def _stream(self, stream):
        """Return a stream of the course's as one of CuPy's; None is the default stream."""
        if stream is None:
            return self.cupy.cuda.Stream.null
        handle = int(stream.handle)
        if handle not in self.streams:
            self.streams[handle] = self.cupy.cuda.ExternalStream(handle)
        return self.streams[handle]

    @contextlib.contextmanager
    def _group(self):
        self.nccl.groupStart()
        try:
            yield
        finally:
            self.nccl.groupEnd()

    def _address(self, array):
        """Return where an array lies, asked once: an array never moves, and to ask Numba takes 5 microseconds."""
        try:
            return array._course_address
        except AttributeError:
            array._course_address = self.device.address(array)
            return array._course_address

    def _sum(self, array, how):
        address = self._address(array)
        self.comm.allReduce(address, address, array.size, self._type(array), how, self.beside.ptr)

    def _type(self, array):
        return self.types[np.dtype(array.dtype)]

    # ------------------------------------------------------------------------------------ messages and collectives

    def _transfer(self, outgoing, to, incoming, source):
        first = outgoing if incoming is None else incoming
        if isinstance(first, np.ndarray):
            self.host._transfer(outgoing, to, incoming, source)
            return
        self._after(None)
        with self._group():
            if outgoing is not None and outgoing.size:
                self.comm.send(self._address(outgoing), outgoing.size, self._type(outgoing), to, self.beside.ptr)
            if incoming is not None and incoming.size:
                self.comm.recv(self._address(incoming), incoming.size, self._type(incoming), source, self.beside.ptr)
        self.wait(self.finish())

    def _engine_all_reduce(self, array):
        if isinstance(array, np.ndarray):
            self.host.all_reduce(array)
            return
        self.start([array])
        self.wait(self.finish())

    def _check(self, name, array):
        if isinstance(array, np.ndarray) or not self.device.owns(array):
            super()._check(name, array)
        elif np.dtype(array.dtype) not in self.types:
            raise TypeError(f"{name} has dtype {array.dtype}; GPUs exchange {', '.join(map(str, self.types))}.")
        elif not is_contiguous(array):
            raise ValueError(f"{name} is a view with gaps; GPUs exchange contiguous arrays.")

    def _flat(self, array):
        return array.reshape(-1) if isinstance(array, np.ndarray) else array.reshape(array.size)

    def scratch(self, array):
        """As `World.scratch`, where the array lies."""
        if isinstance(array, np.ndarray):
            return super().scratch(array)
        return gpu.empty(tuple(array.shape), array.dtype)

    def add(self, total, part):
        """As `World.add`, where the arrays lie; on the device float32."""
        if isinstance(total, np.ndarray):
            super().add(total, part)
        elif total.size:
            self.ops.accumulate(total, part)


class DeviceExchange:
    """The sum of a network's gradients over all GPUs, step by step, behind its backward pass.

    As `buckets.Exchange`, but a bucket is a list of arrays that stay where they are: NCCL sums them in one launch.

    Parameters
    ----------
    world : NcclWorld
    net : Sequential
    bucket_bytes : int >= 1, optional

    Source: S. Li et al. (2020), "PyTorch Distributed", section 3.2.
    """

    def __init__(self, world, net, bucket_bytes=None):
        self.world, self.net, self.buckets = world, net, buckets_of(net, bucket_bytes or recorded.BUCKET_BYTES)
        self.last = {id(bucket.layers[-1]): bucket for bucket in self.buckets}
        self.flag = gpu.to_device(np.zeros(1, np.int32))

    def backward(self, dout):
        """As `buckets.Exchange.backward`, but all that is returned is whether a rank had no finite outputs."""
        absent = dout is None
        gpu.overwrite(self.flag, np.array([absent], np.int32))
        for place, layer in reversed(list(enumerate(self.net))):
            if not absent:
                dout = layer.backward(dout) if place else layer.backward_parameters(dout)
            if (bucket := self.last.get(id(layer))) is not None:
                gradients = [part.grads[name] for part in bucket.layers for name in part.grads]
                if absent:
                    for gradient in gradients:
                        self.net.ops.fill_zero(gradient)
                self.world.start(gradients, self.flag if bucket is self.buckets[-1] else None)
        self.world.wait(self.world.finish())
        return int(gpu.to_host(self.flag)[0])

    def close(self):
        """Nothing is left to end. No errors."""


def _load():
    try:
        import cupy
        from cupy.cuda import nccl
    except ImportError as error:
        raise ImportError(f"sums between GPUs need CuPy and NCCL ({error}). Install: {INSTALL}.") from error
    return cupy, nccl

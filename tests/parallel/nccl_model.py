"""What NCCL and CuPy do, as far as `NcclWorld` asks: a stand-in, so that its calls can be tried without a GPU.

Arrays are the executor's, told by an address; sums and messages go over a channel of threads. A call in a group is done
when the group ends, in the order of the calls, as NCCL has it; a stream does at once what it is given.
"""

import types

import numpy as np

from course_lib import gpu, parallel
from course_lib.parallel.agree import broadcast_bytes
from course_lib.parallel.mpi import yield_processor
from course_lib.parallel.nccl import NcclWorld
from course_lib.parallel.threads import ThreadWorld


class Host(ThreadWorld):
    """A thread with what `MpiWorld` has besides."""

    def local_rank(self):
        return self.rank

    def wait_until(self, done):
        with self.hall.condition:
            self._wait((self.rank + 1) % self.size, "for an event", done)


class Device:
    """The executor's device, with an address for each array."""

    def __init__(self, device):
        self.inner, self.arrays = device, {}

    def owns(self, value):
        return self.inner.owns(value)

    def address(self, array):
        self.arrays[id(array)] = array
        return id(array)


class Model:
    """cupy and cupy.cuda.nccl of one rank."""

    def __init__(self, host):
        self.channel, self.device, self.calls, self.aborted, self.never = host.channel(), None, [], False, False
        self.log = []
        model = self

        class Event:
            def __init__(self, disable_timing=False):
                assert disable_timing, "events that keep the time are slower"

            def record(self, stream):
                model.log.append(("record", stream.ptr))

            @property
            def done(self):
                return not model.never

        class Stream:
            def __init__(self, ptr=7, non_blocking=False):
                self.ptr, self.non_blocking = ptr, non_blocking

            def wait_event(self, event):
                model.log.append(("wait", self.ptr))

        Stream.null = Stream(0)
        device = types.SimpleNamespace(use=lambda: None)
        cuda = types.SimpleNamespace(Event=Event, Stream=Stream, ExternalStream=Stream, Device=lambda number: device)
        self.cupy = types.SimpleNamespace(cuda=cuda)
        names = {"NCCL_FLOAT32": 7, "NCCL_INT32": 2, "NCCL_INT64": 4, "NCCL_SUM": 0, "NCCL_MAX": 2}
        self.nccl = types.SimpleNamespace(
            **names, get_unique_id=lambda: bytes(range(128)), NcclCommunicator=self.communicator,
            groupStart=lambda: self.calls.append("group"), groupEnd=self.end,
        )  # fmt: skip

    def communicator(self, size, number, rank):
        assert (size, number, rank) == (self.channel.size, bytes(range(128)), self.channel.rank)
        return types.SimpleNamespace(
            allReduce=lambda *call: self.calls.append(("sum", *call)),
            send=lambda *call: self.calls.append(("send", *call)),
            recv=lambda *call: self.calls.append(("receive", *call)),
            check_async_error=yield_processor, abort=lambda: setattr(self, "aborted", True),
        )  # fmt: skip

    def end(self):
        """Do the calls of a group: sends first, which do not wait here, then the rest in order."""
        assert self.calls.pop(0) == "group"
        calls, self.calls = sorted(self.calls, key=lambda call: call[0] != "send"), []
        for what, *call in calls:
            place = 2 if what == "sum" else 1  # a sum has two addresses
            address, (count, kind), stream = call[0], call[place : place + 2], call[-1]
            array = self.device.arrays[address]
            assert stream == 7, "NCCL has a stream of its own"
            assert (array.size, kind) == (count, {"float32": 7, "int32": 2, "int64": 4}[str(array.dtype)])
            self.log.append((what, count))
            if what == "send":
                self.channel.send(gpu.to_host(array), call[3])
                continue
            host = gpu.to_host(array)
            if what == "receive":
                self.channel.receive(host, call[3])
            elif call[4] == 0:
                assert call[0] == call[1], "in place"
                self.channel.all_reduce(host)
            else:
                parts = [np.frombuffer(broadcast_bytes(self.channel, host.tobytes(), r), host.dtype)
                         for r in range(self.channel.size)]  # fmt: skip
                host = np.max(parts, axis=0).reshape(host.shape)
            gpu.overwrite(array, host)


def run_on_model(work, size, patience=30.0):
    """Run work(world) on `size` ranks that compute on the executor and sum by the model; return (results, models)."""
    models = {}

    def body(world):
        host = Host(world.hall, world.rank, world.patience)
        models[world.rank] = model = Model(host)
        made = NcclWorld(host, modules=(model.cupy, model.nccl))
        model.device = made.device = Device(made.device)
        made.model = model
        return work(made)

    return parallel.run(body, size, patience=patience), models

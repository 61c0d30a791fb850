"""Record launches once, and replay all of them by one call.

A launch from Python costs the host 20 to 40 microseconds, and a kernel of a small network needs 5 on the device: the
device waits for the host. Recorded, twenty launches cost about as much as one. Source: NVIDIA, "CUDA C++ Programming
Guide", "CUDA Graphs".
"""

from course_lib.cuda.device import executor
from course_lib.cuda.launch_checks import check_priority


class Graph:
    """A recorded function. Calling it does on the device what the function did, to the same arrays.

    Attributes
    ----------
    result : object
        What the function returned. Device arrays in it are overwritten by each call.

    Source: NVIDIA, "CUDA C++ Programming Guide", "CUDA Graphs".
    """

    def __init__(self, replay, result, function):
        self._replay, self.result = replay, result
        self._function = function  # it holds the arrays whose addresses are recorded: they must live as long as this

    def __call__(self, stream=None):
        """Enqueue everything that was recorded, in a stream or else the default one, behind what is there. No errors.

        What runs in two streams at once must not be the same graph: its arrays are there once.
        """
        self._replay(self, stream)


def record(function, priority=None, first=True):
    """Run a function once, record what it launches when run again, and return the `Graph`.

    The first run is real: it compiles, and changes whatever the function changes. The second one is only recorded. What
    differs from call to call must lie in device arrays that the function reads, since numbers and addresses are
    recorded as they are: feed a step by `gpu.overwrite(array, host)`. Without a GPU, a call of the graph runs the
    function.

    Parameters
    ----------
    function : function
        Without arguments. It launches kernels on the default stream, and copies nothing to or from the host.
    priority : int, optional
        Of its kernels, as of `gpu.stream`, in whatever stream the graph is called; default: that of the stream.
    first : bool
        False leaves out the first, real run: for who has run the same launches before, and cannot run them twice.

    Returns
    -------
    Graph

    Raises
    ------
    DeviceError
        If the function copies between host and device, or a recording is going on already.
    TypeError
        If the priority is no whole number.

    Source: NVIDIA, "CUDA C++ Programming Guide", "CUDA Graphs".
    """
    if priority is not None:
        priority = check_priority(priority)
    replay, result = executor().record(function, priority, first)
    return Graph(replay, result, function)


def rerun(function, first=True):
    """Return (what a graph's call does on a device without graphs, what the first run returned, None without one)."""

    def replay(graph, stream):
        graph.result = function()

    return replay, function() if first else None

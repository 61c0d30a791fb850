"""A recorded graph as the driver has it: a node for each launch, tied to those whose results it needs.

Source: NVIDIA, "CUDA Driver API", "Graph Management".
"""

from array import array

from course_lib.cuda.node_order import NodeOrder
from course_lib.cuda.numba_cuda import cuda

EVERYTHING = (0, 1 << 64, True)
"""What a launch may use of which nothing is known."""


class GraphNodes:
    """A graph that grows launch by launch, and is then started as a whole, again and again.

    With a `priority`, its kernels have that one; else they have that of the stream in which the graph is started.

    RuntimeError where the driver refuses something. Source: NVIDIA, "CUDA Driver API", "Graph Management".
    """

    def __init__(self, priority=None):
        from cuda.bindings import driver  # it comes with NVIDIA's package, which a machine without a card may lack

        self.driver, self.priority = driver, priority
        self.graph = _checked(driver.cuGraphCreate(0), "make a graph")
        self.order, self.nodes, self.ready = NodeOrder(), [], None
        self.kept = []  # device arrays that launches use and nobody else may hold

    def add_kernel(self, function, grid, block, shared, addresses, uses):
        """Add a launch of the driver's `function`; `addresses` says where its arguments lie, which are copied.

        `uses` is a list of (start, stop, writes), bytes of device memory. RuntimeError as the class.
        """
        asked = self.driver.CUDA_KERNEL_NODE_PARAMS()
        asked.func = function
        asked.gridDimX, asked.gridDimY, asked.gridDimZ = grid
        asked.blockDimX, asked.blockDimY, asked.blockDimZ = block
        asked.sharedMemBytes = shared
        kept = array("Q", addresses)
        asked.kernelParams = kept.buffer_info()[0]
        ties = self._ties(uses)
        node = _checked(self.driver.cuGraphAddKernelNode(self.graph, ties, len(ties), asked), "add a launch")
        if self.priority is not None:
            value = self.driver.CUkernelNodeAttrValue()
            value.priority = self.priority
            attribute = self.driver.CUkernelNodeAttrID.CU_LAUNCH_ATTRIBUTE_PRIORITY
            _checked(self.driver.cuGraphKernelNodeSetAttribute(node, attribute, value), "give a launch its priority")
        self.nodes.append(node)

    def add_other(self, launch):
        """Add what `launch(stream)` enqueues, after all that was added before, and before all that is added later.

        RuntimeError as the class.
        """
        from cuda.core import Device

        device = Device()
        device.set_current()
        stream = device.create_stream()
        handle = self.driver.CUstream(int(stream.handle))
        here = self.driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        _checked(self.driver.cuStreamBeginCapture(handle, here), "begin a recording")
        try:
            launch(cuda.external_stream(int(stream.handle)))
        finally:
            part = _checked(self.driver.cuStreamEndCapture(handle), "end a recording")
        ties = self._ties([EVERYTHING])
        self.nodes.append(
            _checked(self.driver.cuGraphAddChildGraphNode(self.graph, ties, len(ties), part), "add a recording")
        )
        _checked(self.driver.cuGraphDestroy(part), "forget a recording")

    def _ties(self, uses):
        return [self.nodes[tie] for tie in self.order.add(uses)]

    def finish(self):
        """Make it ready to start; nothing can be added any more. RuntimeError as the class."""
        flags = 0
        if self.priority is not None:
            flags = self.driver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
        self.ready = _checked(self.driver.cuGraphInstantiate(self.graph, int(flags)), "make a graph ready")

    def start(self, stream=0):
        """Enqueue it in a stream, by its handle: 0 is the default stream. RuntimeError as the class."""
        _checked(self.driver.cuGraphLaunch(self.ready, self.driver.CUstream(stream)), "start a graph")

    def end(self):
        """Forget it; a start that is still running goes on to its end. No errors: the driver may be gone already."""
        if self.ready is not None:
            self.driver.cuGraphExecDestroy(self.ready)
        self.driver.cuGraphDestroy(self.graph)


def _checked(answer, what):
    """Return what the driver gave besides its status, or raise RuntimeError."""
    error, *values = answer
    if error:
        raise RuntimeError(f"the driver refuses to {what}: {error.name}.")
    return values[0] if values else None

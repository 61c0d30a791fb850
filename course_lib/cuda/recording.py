"""What a launcher launches: each kernel with its grid, block and arguments, noted while it happens, or instead of it.

Source: the course's own. The gates compile what was noted, without a GPU; the benchmark launches it again, so that it
times kernels and not the making of their outputs.
"""

from contextlib import contextmanager
from dataclasses import dataclass

from course_lib.cuda.kernel import Kernel
from course_lib.cuda.launch_checks import check_launch


@dataclass(frozen=True)
class Launch:
    """A kernel, its grid and block as three numbers each, stream, bytes of dynamic shared memory, and arguments.

    Source: Numba's documentation, "Kernel invocation".
    """

    kernel: Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    stream: object
    shared: int
    arguments: tuple

    def again(self):
        """Launch it once more, with the same arrays. Errors as any launch."""
        self.kernel[self.grid, self.block, self.stream, self.shared](*self.arguments)


@contextmanager
def record_launches(*, run=True):
    """Inside `with record_launches() as launches:`, the list `launches` gets a `Launch` for each one.

    Parameters
    ----------
    run : bool
        False: note them only, and leave the arrays as they are.

    In all threads, and not within itself. Errors as any launch. Source: the course's own.
    """
    launches, original = [], Kernel.__getitem__

    def noting(kernel, configuration):
        def launch(*arguments):
            grid, block, stream, shared = (*configuration, *(0, 0)[len(configuration) - 2 :])
            launches.append(Launch(kernel, *check_launch(grid, block), stream, shared, arguments))
            if run:
                original(kernel, configuration)(*arguments)

        return launch

    Kernel.__getitem__ = noting
    try:
        yield launches
    finally:
        Kernel.__getitem__ = original

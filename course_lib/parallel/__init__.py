"""Many devices: ranks that compute side by side and exchange messages, and training that is shared among them.

To read it from below: `world` (messages between ranks) and its engines `threads`, `mpi` (with `notices`) and `nccl`;
`all_to_one`, `tree`, `ring` (how a sum over all ranks is made of messages); `agree` (do all ranks have the same?);
`parts` (which rows of a batch are a rank's), `buckets` (gradients on their way while the backward pass goes on),
`epochs` (the training loop); `run` starts ranks, `launch` with `watch` and `script` processes; `plans` lets ranks
follow a written plan, and `trials` runs trainings that need no messages at all. What a sum takes: `course_lib.cluster`.

Source: K's course plan ("parallel and distributed processing"); the modules name theirs.
"""

from course_lib.parallel import all_to_one, ring, tree
from course_lib.parallel.errors import RankError
from course_lib.parallel.run import run
from course_lib.parallel.traffic import Traffic
from course_lib.parallel.world import World

__all__ = ["RankError", "Traffic", "World", "all_to_one", "ring", "run", "tree"]

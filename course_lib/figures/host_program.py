"""The objects of an OpenCL program, line by line of the host program that makes them, for lesson 19.

Source: Khronos, "The OpenCL Specification", "The OpenCL Architecture".
"""

from course_lib.simt.show.panel import WIDTH, Panel

from . import style
from .picture import picture
from .stepper import stepper

HIGH = 338

STEPS = (
    ("cl.get_platforms()", "platform",
     "A platform is an implementation of OpenCL: compiler and driver. There may be several."),
    ("platform.get_devices()", "device", "A platform has devices: CPUs, GPUs, others. Each has compute units."),
    ("cl.Context([device])", "context", "A context holds what devices share. Nothing outside of it can be used in it."),
    ("cl.CommandQueue(context)", "queue", "A queue takes commands for one device, and the device works them off."),
    ("cl.Buffer(context, ...)", "buffer", "A buffer is memory in the context: so many bytes, without shape or type."),
    ("cl.Program(context, text).build()", "program",
     "A program is text. It is compiled now, on this machine, for the context's device."),
    ("cl.Kernel(program, name)", "kernel", "A kernel is one function of the program."),
    ("kernel(queue, (1024,), (256,), x, y)", "launch",
     "A launch is a command: kernel, sizes, arguments. It returns an event at once."),
    ("cl.enqueue_copy(queue, y_host, y)", "copy", "A copy is a command, too. It brings the result to the host."),
)  # fmt: skip
"""The host's line, what it makes, and a sentence."""


def opencl_objects():
    """Return a figure that steps through a host program and shows what each line makes. No errors.

    Source: Khronos, "The OpenCL Specification", "Execution Model".
    """
    frames = [_frame(k) for k in range(len(STEPS))]
    return stepper(frames, title="What a host program makes, line by line", static=len(STEPS) - 1)


def _frame(k):
    line, new, says = STEPS[k]
    there = {name for _, name, _ in STEPS[: k + 1]}
    s = Panel(WIDTH, HIGH)
    s.text(8, 16, f"{k + 1}.", bold=True)
    s.text(28, 16, line, bold=True)

    def box(name, x, y, wide, tall, words, role, note=""):
        if name not in there:  # room that a later line fills
            s.rect(x, y, wide, tall, fill=style.PAPER, stroke="idle", dashed=True, radius=5)
            return
        fresh = name == new
        look = {"stroke": style.INK if fresh else role, "line": 2.5 if fresh else 1, "radius": 5}
        s.rect(x, y, wide, tall, fill=style.tint(role, 0.35 if fresh else 0.14), **look)
        s.text(x + 8, y + 17, words, bold=fresh)
        if note:
            s.text(x + 8, y + 34, note, fill=style.MUTED)

    box("platform", 8, 30, 118, 262, "platform", "idle")
    box("device", 16, 68, 102, 106, "device", "thread", "compute units")
    if "device" in there:
        s.cells([(24 + 44 * (i % 2), 112 + 28 * (i // 2), 40, 24) for i in range(4)], fill=style.tint("thread", 0.4))
    box("context", 140, 30, 252, 262, "context", "data")
    box("queue", 150, 56, 232, 76, "queue", "thread")
    box("launch", 158, 80, 106, 44, "launch", "output", "→ event")
    box("copy", 268, 80, 106, 44, "copy", "output", "→ event")
    box("program", 150, 142, 232, 60, "program", "weight", "text, compiled")
    box("kernel", 270, 160, 104, 34, "kernel", "weight")
    box("buffer", 150, 226, 110, 54, "buffer x", "data", "4,000 bytes")
    box("buffer", 272, 226, 110, 54, "buffer y", "data", "4,000 bytes")
    s.rect(8, 302, 384, 28, fill=style.PAPER, stroke="idle", dashed=True, radius=5)
    s.text(16, 320, "the host: your Python program and its arrays")
    if "queue" in there:
        s.arrow(150, 94, 120, 110, stroke="thread", line=2)
    if "launch" in there:
        s.arrow(300, 160, 262, 126)
        s.arrow(255, 226, 255, 126, dashed=True)
    if "copy" in there:
        s.arrow(378, 226, 364, 126, dashed=True)
        s.arrow(330, 280, 330, 301, stroke="output", line=2)
    made = ", ".join(name for _, name, _ in STEPS[: k + 1])
    return picture(s, alt=f"Line {k + 1}, {line}. {says} There are now: {made}.", caption=f"{line}: {says}")

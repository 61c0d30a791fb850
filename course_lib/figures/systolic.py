"""A systolic array beat by beat, for lesson 17: what moves, what is added, and how many cells are busy.

Source: H. T. Kung, "Why Systolic Architectures?" (1982).
"""

import numpy as np

from course_lib.reference.systolic import systolic_product
from course_lib.simt.show.panel import Panel

from . import style
from .picture import picture
from .stepper import stepper

CELL_W, CELL_H, LEFT, TOP = 82, 54, 58, 28


def systolic_array(A, B):
    """Return a figure that steps through the beats of A (M, K) times B (K, N), small whole numbers.

    Errors as `systolic_product`. Source: Kung (1982).
    """
    C, beats = systolic_product(A, B)
    frames = [_frame(np.asarray(A), np.asarray(B), C, beats, t) for t in range(len(beats))]
    return stepper(frames, title="A grid of cells multiplies", static=min(len(beats) - 1, len(beats) // 2))


def _frame(A, B, C, beats, t):
    (M, K), N, beat = A.shape, B.shape[1], beats[t]
    bars = 60
    width = max(LEFT + N * CELL_W + 12, 24 + 22 * len(beats), 330)
    s = Panel(width, TOP + K * CELL_H + 34 + bars + 34)
    s.text(8, 16, f"Beat {t + 1} of {len(beats)}: {beat.busy} of {K * N} cells busy", bold=True)
    for k in range(K):
        if 0 <= t + 1 - k < M:  # what waits to enter next
            s.text(8, TOP + CELL_H * (k + 0.5) - 12, "next", fill=style.MUTED)
            s.text(8, TOP + CELL_H * (k + 0.5) + 4, f"{A[t + 1 - k, k]:g}", fill=style.MUTED)
            s.arrow(26, TOP + CELL_H * (k + 0.5), LEFT - 6, TOP + CELL_H * (k + 0.5), stroke="data")
        for n in range(N):
            x, y, row = LEFT + CELL_W * n, TOP + CELL_H * k, int(beat.rows[k, n])
            busy = row >= 0
            s.cells(
                [(x, y, CELL_W - 6, CELL_H - 6)],
                fill=style.tint("thread", 0.3) if busy else style.PAPER,
                hatched=not busy,
            )
            above = beat.sums[k, n] - beat.moving[k, n] * B[k, n]
            words = f"{above:g} + {beat.moving[k, n]:g} · {B[k, n]:g}" if busy else f"weight {B[k, n]:g}"
            s.text(x + (CELL_W - 6) / 2, y + 20, words, anchor="middle")
            if busy:
                s.text(x + (CELL_W - 6) / 2, y + 38, f"= {beat.sums[k, n]:g}", anchor="middle", bold=True)
    out = [f"C[{beat.rows[-1, n]}, {n}] = {beat.sums[-1, n]:g}" for n in range(N) if beat.rows[-1, n] >= 0]
    s.text(LEFT, TOP + K * CELL_H + 14, "finished below: " + (", ".join(out) or "no sum yet"))
    base = TOP + K * CELL_H + 34 + bars
    for i, other in enumerate(beats):
        tall = bars * other.busy / (K * N)
        s.rect(12 + 22 * i, base - tall, 18, max(tall, 0.5), fill="thread" if i == t else style.tint("thread", 0.3))
    s.text(8, base + 20, "busy cells, beat by beat", fill=style.MUTED)
    told = f"{'; '.join(out)} done." if out else "No sum is done."
    caption = f"Beat {t + 1}: {beat.busy} of {K * N} cells multiply. {told}"
    return picture(s, alt=caption, caption=caption)

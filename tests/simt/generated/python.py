"""Random kernels with the Python of `tests/simt/correct/python.py`: loops over anything, early ways out, arrays that
change places, functions inside. Each thread works on its own row, so that Python can run one after the other.
"""

import random

HEAD = """def kernel(rows, out):
    i = cuda.grid(1)
    x, y, k = i, 3, 0
    mine, other = rows[i], rows[i + 8]
    def more(v, step=2):
        if v > 20:
            return v - x
        return v + step
"""


class Writer:
    """Writes one kernel. Whatever it writes ends, and every whole number stays small."""

    def __init__(self, seed):
        self.random, self.lines, self.loops, self.names = random.Random(seed), [], 0, 0

    def text(self):
        """Return the kernel's text."""
        self.block(1, 5)
        ends = ["    out[i, 0] = x + 3 * y + 7 * k + mine[0] - other[1]", "    out[i, 1] = mine.sum() + len(other)"]
        return HEAD + "\n".join(self.lines + ends) + "\n"

    def value(self):
        """Return an expression."""
        choice = self.random.choice
        return choice([
            "x", "y", "k", "i", str(self.random.randrange(9)), f"mine[{self.index()}]", f"other[{self.index()}]",
            f"more({choice('xyk')})", f"more(step={choice('xyk')}, v=4)", f"(x, y, k)[{choice('xyki')} % 3]",
            f"(x if {self.test()} else y)", f"mine[{choice(['1:', ':2', '::2', '::-1'])}].sum()",
            f"sum(({choice('xyk')}, 2, y))", f"({choice('xyk')} + {choice('xyk')}) % 7",
        ])  # fmt: skip

    def index(self):
        return self.random.choice(["0", "1", "-1", "x % 3", "(y + k) % 4", "i % 4"])

    def test(self):
        """Return a condition."""
        choice = self.random.choice
        return choice([
            f"{choice('xyki')} % {choice('23')} == 0", f"{choice('xyk')} < {choice('xyki')}",
            f"{choice('xyk')} in (1, 2, i)", f"{choice('xyk')} not in mine", f"(x, y) < ({choice('xyk')}, 4)",
            f"mine[{self.index()}] > {choice('xyk')}",
            "i in (0, 5)", "x > 2 and y < 5 or k == 1",
        ])  # fmt: skip

    def block(self, depth, most):
        for _ in range(self.random.randrange(1, most + 1)):
            self.statement(depth)

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def statement(self, depth):
        kind = self.random.choice(["set", "set", "store", "swap", "pair", "if", "if", "for", "while", "out"])
        name = self.random.choice("xyk")
        if kind == "set":
            self.add(depth, f"{name} = {self.value()} % 50")
        elif kind == "store":
            self.add(depth, self.random.choice([
                f"mine[{self.index()}] = {self.value()} % 50", f"other[1:3] = {name}", f"mine[{self.index()}] += 1",
            ]))  # fmt: skip
        elif kind == "swap":
            self.add(depth, self.random.choice(["mine, other = other, mine", "x, y = y, x", "x, (y, k) = y, (k, x)"]))
        elif kind == "pair":
            self.add(depth, f"{name}, mine[{self.index()}] = {self.value()} % 50, {self.value()} % 50")
        elif kind == "out" and self.loops:
            self.add(depth, f"if {self.test()}:")
            self.add(depth + 1, self.random.choice(["break", "continue", "return", "break"]))
        elif kind == "if" and depth < 5:
            self.add(depth, f"if {self.test()}:")
            self.block(depth + 1, 3)
            if self.random.random() < 0.5:
                self.add(depth, "else:")
                self.block(depth + 1, 2)
        elif kind in ("for", "while") and depth < 4:
            self.loop(depth, kind)
        else:
            self.add(depth, f"{name} += 1")

    def loop(self, depth, kind):
        self.names += 1
        v, name = f"v{self.names}", self.random.choice("xyk")
        if kind == "while":
            self.add(depth, f"{v} = 0")
            self.add(depth, f"while {v} < 3 or (({self.test()}) and {v} < 5):")
            self.add(depth + 1, f"{v} += 1")
        else:
            head, use = self.random.choice([
                (f"for {v} in range({name} % 4)", v), (f"for {v} in mine", v),
                (f"for {v} in (1, int64(x), int64(k))", v),
                (f"for {v}, w in enumerate(other, 1)", f"{v} * w"), (f"for {v}, w in zip(mine, other)", f"{v} - w"),
                (f"for {v} in range(3, -1, -1)", v), (f"for {v} in mine[: y % 4]", v),
            ])  # fmt: skip
            self.add(depth, f"{head}:")
            self.add(depth + 1, f"{name} = ({name} + {use}) % 50")
        self.loops += 1
        self.block(depth + 1, 3)
        self.loops -= 1
        if self.random.random() < 0.3:
            self.add(depth, "else:")
            self.block(depth + 1, 2)

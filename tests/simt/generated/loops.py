"""Random loops of one thread: numbers of all types, arrays, branches, loops inside, functions, and what goes wrong."""

import random

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64"]
HEAD = """def kernel(a, b, w, out):
    t = cuda.grid(1)
    own = cuda.local.array(4, float64)
    own[0] = 1.0
    x, y, k = 1.5, {y}(3), 0
    if t == {lane}:
"""


class Writer:
    """Writes one kernel, in which thread `lane` goes round many times."""

    def __init__(self, seed):
        self.random, self.lines, self.loops = random.Random(seed), [], 0
        self.dtype, self.lane = self.random.choice(DTYPES), self.random.randrange(3)
        self.whole, self.single = self.random.choice(DTYPES[:7]), self.random.choice(["float32", "float64"])

    def text(self):
        """Return the kernel's text."""
        self.loop(2, self.random.choice(["range(40)", "range(3, 90, 2)", "range(30, -3, -1)"]))
        last = "        out[0] = x\n        out[1] = y\n        out[2] = k\n        out[3] = own[0]\n"
        helper = (
            "@cuda.jit(device=True)\ndef half(v, at):\n    if v > 3:\n        return v - at\n"
            "    for q in range(3):\n        if q > at:\n            return v + q\n    return v / 2\n\n\n"
        )
        return helper + HEAD.format(y=self.dtype, lane=self.lane) + "\n".join(self.lines) + "\n" + last

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def pick(self, *options):
        return self.random.choice(options)

    def number(self, depth=0):
        """Return an expression of any type."""
        if depth > 2:
            return self.pick("x", "y", "k", "i", "2", "0.75", "-1", "t")
        deeper = depth + 1
        return self.pick(
            "x", "y", "k", "i", str(self.random.randrange(7)), "1.25",
            f"({self.number(deeper)} {self.pick('+', '-', '*', '/')} {self.number(deeper)})",
            f"({self.integer(deeper)} {self.pick('//', '%', '&', '|', '^')} {self.integer(deeper)})",
            f"({self.integer(deeper)} {self.pick('<<', '>>')} {self.pick('1', '3', 'k', '70')})",
            f"-{self.number(deeper)}", f"~{self.integer(deeper)}", f"a[{self.index()}]", f"b[{self.index()}, k % 3]",
            f"w[{self.index()}]", f"own[{self.pick('0', '0', '0', 'k % 4')}]",
            f"math.sqrt(abs({self.number(deeper)}))", f"math.floor({self.real(deeper)})",
            f"{self.pick(*DTYPES[2:4], *DTYPES[7:], 'int', 'float')}({self.number(deeper)})",
            f"{self.pick('min', 'max')}({self.number(deeper)}, {self.number(deeper)})",
            f"({self.number(deeper)} if {self.test(deeper)} else {self.number(deeper)})",
            f"half({self.real(deeper)}, k)", "a.shape[0]", "len(b)", "cuda.blockDim.x",
        )  # fmt: skip

    def integer(self, depth):
        """Return an expression that is a whole number."""
        return self.pick("k", "i", "t", "3", "5", "-1", f"w[{self.index()}]", f"int64({self.number(depth + 1)})")

    def real(self, depth):
        """Return an expression that is a float."""
        return self.pick("x", f"({self.number(depth + 1)} + 0.5)", f"a[{self.index()}]")

    def index(self):
        return self.pick("k % 8", "k % 8", "0", "i % 8", "7", self.pick("k % 8", "i - 5", "k - 9"))

    def test(self, depth=0):
        """Return a condition."""
        if depth > 1:
            return self.pick("k > 3", "i % 2 == 0", "x < y")
        return self.pick(
            f"{self.number(depth + 1)} {self.pick('<', '<=', '==', '!=', '>', '>=')} {self.number(depth + 1)}",
            f"({self.test(depth + 1)} {self.pick('and', 'or')} {self.test(depth + 1)})", f"not {self.test(depth + 1)}",
            f"0 <= {self.number(depth + 1)} < 5", "i % 3 == 1",
        )  # fmt: skip

    def block(self, depth):
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth)

    def statement(self, depth):
        kind = self.pick("set", "set", "store", "add", "swap", "if", "loop", "out", "type")
        if kind == "set":
            self.add(depth, f"{self.pick('x = float64', 'k = int64')}({self.number()})")
        elif kind == "type":
            self.add(depth, f"y = {self.dtype}({self.pick('k', 'i', 'y + 1')})")
        elif kind == "store":
            target = self.pick(f"w[{self.index()}]", f"b[{self.index()}, 1]", "own[0]", "own[k % 4]")
            self.add(depth, f"{target} = {self.pick(self.number(), 'k', 'x', '2')}")
        elif kind == "add":
            target = self.pick("k", "k", f"w[{self.index()}]", f"b[k % 8, {self.pick('0', '1', '2', 'i')}]")
            self.add(depth, f"{target} {self.pick('+=', '-=')} {self.pick('1', 'k', 'i', '2')}")
        elif kind == "swap":
            self.add(depth, f"k, x = {self.pick('i, x', 'i + 1, x * 0.5', 'k + 2, float64(k)')}")
        elif kind == "out" and self.loops:
            self.add(depth, f"if {self.test()}:")
            self.add(depth + 1, self.pick("continue", "continue", "break"))
        elif kind == "if" and depth < 5:
            self.add(depth, f"if {self.test()}:")
            self.block(depth + 1)
            if self.random.random() < 0.5:
                self.add(depth, "else:")
                self.block(depth + 1)
        elif kind == "loop" and self.loops < 2:
            self.loop(depth, self.pick("range(4)", "range(k % 5)", "range(2, 6)"))
        else:
            self.add(depth, "k += 1")

    def loop(self, depth, over):
        own, self.loops = "ijq"[self.loops], self.loops + 1
        if self.random.random() < 0.3:
            self.add(depth, f"{own} = 0")
            self.add(depth, f"while {own} < {self.pick('5', '20')}:")
            self.add(depth + 1, f"{own} += 1")
        else:
            self.add(depth, f"for {own} in {over}:")
        self.block(depth + 1)
        self.loops -= 1

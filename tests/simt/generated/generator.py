"""Texts of small kernels, made up at random: race-free, in bounds, and with one result on every executor.

Needs the standard library and NumPy only, so that a machine with a GPU and without the course can make them too.
`kernel_case(seed)` and the strategy `cases()` of the tests draw from one grammar; only who decides differs (`Choices`).

Why a generated kernel has one result, whoever runs it:
- Whole numbers stay below 2**24, floats are multiples of 1/16 that fit into 24 bits: every operation is exact, in
  float32 as in float64 and with a*b+c fused or not. What would leave this range is reduced first (% for whole numbers,
  floor and a clamp for floats). So it does not matter which type an executor computes in, unless a kernel for a card
  says so: there, `wild` numbers of all bits are cut to typed widths, and warp operations occur.
- Roots and quotients are taken once, directly before a store; into float32 they are then the same from float32 as from
  float64 (a quotient or root of 24-bit numbers that is rounded to 53 bits and then to 24 equals the one rounded once).
- A stored float is e + 0.0, so that no zero has a sign.
- A thread writes its own elements only. Shared arrays: own slot, barrier, any slot, barrier. All barriers and warp
  operations come before the first return and outside of branches. Arrays with atomics see one operation only.
"""

import hashlib
import random
from typing import NamedTuple

import numpy as np

WHOLE, FLOAT = "whole", "float"
MOST = 2**24
"""No intermediate result is larger, in units of its last binary place."""
KEPT_WHOLE, KEPT_FLOAT, KEPT_BITS = 500, 64, 3
"""What a variable may be: a whole number up to 500, or a multiple of 1/8 up to 64."""

INPUTS = {
    "xi": ("int32", 50, 0), "xl": ("int64", 300, 0), "xb": ("uint8", 255, 0), "xu": ("uint32", 300, 0),
    "xf": ("float32", 16, 2), "xd": ("float64", 32, 3),
}  # fmt: skip
"""Input arrays: dtype, largest number, binary places."""
OUTPUTS = {"oi": "int32", "ol": "int64", "ob": "uint8", "of": "float32", "od": "float64"}
WILD = {"wi": "int32", "wu": "uint32", "wl": "int64"}
"""Inputs of all bits, for a card."""
WIDTHS = ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64")
BINS = 5
ATOMICS = {"add": "int32", "max": "int32", "min": "int64", "xor": "int32", "or_": "uint32", "sub": "int32"}


class Choices:
    """Decisions drawn from a seed; the same on every Python. Source: the course's own."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def below(self, n):
        """Return a whole number from 0 to n - 1."""
        return int(self._random.random() * n)


class Value(NamedTuple):
    """An expression: its text, WHOLE or FLOAT, its largest size and its binary places. Source: the course's own."""

    text: str
    kind: str
    most: float
    bits: int = 0


class Case(NamedTuple):
    """A kernel's text and its launch. Source: the course's own."""

    text: str
    grid: tuple
    block: tuple
    shape: tuple
    wild: bool

    def sha256(self):
        """Return what tells this case from any other."""
        return hashlib.sha256(repr(tuple(self)).encode()).hexdigest()

    def arguments(self):
        """Return {parameter: array or number}: new inputs, and outputs that hold known numbers."""
        count = int(np.prod(self.shape))
        given = {}
        for k, (name, (dtype, most, bits)) in enumerate(INPUTS.items()):
            low = 0 if dtype[0] == "u" else -most
            steps = _mixed(count, k) % np.uint64((most - low) * 2**bits + 1)
            given[name] = (low + steps / 2.0**bits).astype(dtype)
        if self.wild:
            for k, (name, dtype) in enumerate(WILD.items(), 20):
                given[name] = _mixed(count, k).astype(dtype)
        for k, (name, dtype) in enumerate(OUTPUTS.items(), 40):
            given[name] = (_mixed(count, k) % np.uint64(7)).astype(dtype).reshape(self.shape)
        given["bins"] = np.full(BINS, 3, ATOMICS[self.text.split("# bins: ")[1].split()[0]])
        return given | {"n": self.shape[-1], "q": np.int32(7), "s": np.float32(1.5)}


def _mixed(count, salt):
    """Return `count` uint64 numbers that look random."""
    with np.errstate(over="ignore"):
        x = (np.arange(count, dtype=np.uint64) + np.uint64(1 + 1000 * salt)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        return x ^ (x >> np.uint64(27))


def kernel_case(seed, wild=True):
    """Return the Case of a seed: for a card with typed widths and warp operations, or without (`wild` false)."""
    return Generator(Choices(seed), wild).case()


def kernel_text(seed, wild=True):
    """Return the text alone of `kernel_case`."""
    return kernel_case(seed, wild).text


class Generator:
    """Writes one kernel; `choices.below(n)` decides everything. Source: the course's own."""

    def __init__(self, choices, wild):
        self.choices, self.wild = choices, wild
        self.lines, self.depth, self.names = [], 1, 0
        self.scope, self.fixed, self.loops = {}, set(), 0
        self.own, self.helpers, self.may_return = None, {}, False

    # ---------------------------------------------------------------------------------------------- decisions

    def below(self, n):
        return self.choices.below(n)

    def one(self, options):
        return options[self.below(len(options))]

    def often(self, percent):
        return self.below(100) >= 100 - percent

    def name(self, letter="v"):
        self.names += 1
        return f"{letter}{self.names}"

    def write(self, line):
        self.lines.append("    " * self.depth + line)

    # ---------------------------------------------------------------------------------------------- the kernel

    def case(self):
        warps = self.wild and self.often(40)
        two = self.often(35)
        if two:
            block = self.one([(8, 4), (32, 1), (16, 4), (4, 8)] if warps else [(4, 3), (5, 4), (8, 2), (1, 6), (7, 1)])
            grid = self.one([(1, 1), (2, 1), (1, 2), (2, 2)] if self.wild else [(1, 1), (2, 1), (1, 2)])
            whole = (grid[1] * block[1], grid[0] * block[0])
            self.shape = tuple(max(1, s - self.below(3)) for s in whole)
        else:
            block = (self.one([32, 64] if warps else [4, 8, 13, 32, 40] if self.wild else [4, 7, 12, 16]),)
            grid = (1 + self.below(3),)
            self.shape = (max(2, grid[0] * block[0] - 3 + self.below(6)),)
        self.two, self.size, self.threads = two, int(np.prod(self.shape)), int(np.prod(block))
        self.atomic = self.one(list(ATOMICS))
        self.header()
        helpers = [self.helper(kind) for kind in ("number", "pair", "branch") if self.often(40)]
        self.scope = dict(self.known)  # a helper has its own
        for _ in range(1 + self.below(2)):
            self.assign(new=True)
        for _ in range(self.below(3)):
            self.statement(2)
        for _ in range(self.below(3)):
            self.one([self.exchange, self.exchange, self.shared_bins, self.rounds, self.count_barrier])()
            self.statement(2)
        if warps:
            for _ in range(1 + self.below(3)):
                self.warp()
        self.finish()
        parameters = [*INPUTS, *(WILD if self.wild else ()), *OUTPUTS, "bins", "n", "q", "s"]
        head = [f"# bins: {self.atomic}", *(line for h in helpers for line in h)]
        text = "\n".join([*head, f"def kernel({', '.join(parameters)}):", *self.lines]) + "\n"
        return Case(text, grid, block, self.shape, self.wild)

    def header(self):
        if self.two:
            self.write("x, y = cuda.grid(2)")
            self.write("t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x")
            self.known = {"x": WHOLE, "y": WHOLE, "t": WHOLE}
        elif self.often(30):
            self.write("i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")
            self.write("t = cuda.threadIdx.x")
            self.known = {"i": WHOLE, "t": WHOLE}
        else:
            self.write("i = cuda.grid(1)")
            self.write("t = cuda.threadIdx.x")
            self.known = {"i": WHOLE, "t": WHOLE}
        self.kept = set(self.known)  # never assigned

    def finish(self):
        """The part with results: a guard that returns, a guard around it, or a loop over the grid."""
        self.may_return = True
        if self.two:
            self.own = "y, x"
            inside, outside = "y < oi.shape[0] and x < n", "y >= oi.shape[0] or x >= n"
        else:
            self.own, inside, outside = "i", "i < n", "i >= n"
        way = 0 if self.two else self.below(3)
        if way == 2:
            j = self.name("j")
            self.write(f"for {j} in range(i, n, cuda.gridsize(1)):")
            self.own = j
            self.inside_loop(lambda: self.results(), {j: WHOLE})
        elif way == 1 or self.often(50):
            self.write(f"if {inside}:")
            self.inside_branch(self.results)
        else:
            self.write(f"if {outside}:")
            self.write("    return")
            self.results()

    def results(self):
        for _ in range(1 + self.below(3)):
            self.statement(3)
        for _ in range(1 + self.below(3)):
            self.store()

    # ---------------------------------------------------------------------------------------------- statements

    def statement(self, depth):
        ways = [self.assign, self.assign, self.augment, self.pair]
        if self.own:
            ways += [self.store, self.store, self.atomically]
        if self.helpers:
            ways += [self.call]
        if depth > 0:
            ways += [lambda: self.branch(depth)] * 2 + [lambda: self.loop(depth), lambda: self.local(depth)]
        self.one(ways)()

    def block(self, depth):
        for _ in range(1 + self.below(3)):
            self.statement(depth - 1)
        if self.may_return and self.often(8):
            self.write("return")
        elif self.loops and self.often(20):
            self.write(self.one(["continue", "break"]))

    def inside_branch(self, body):
        before = dict(self.scope)
        self.depth += 1
        body()
        self.depth -= 1
        after, self.scope = self.scope, before
        return after

    def inside_loop(self, body, extra):
        """Write a loop's body: what it changes keeps its kind, or is taken for a float from the start."""
        before, fixed = dict(self.scope), set(self.fixed)
        for name, kind in before.items():
            if kind == WHOLE and name not in self.kept and name not in self.fixed and self.often(25):
                self.scope[name] = FLOAT
        promoted = dict(self.scope)
        self.fixed |= set(self.scope)
        self.scope |= extra
        self.kept |= set(extra)
        self.depth += 1
        self.loops += 1
        body()
        self.depth -= 1
        self.loops -= 1
        self.fixed, self.scope = fixed, promoted

    def branch(self, depth):
        ends = []
        for word in ("if", "elif", "else"):
            if word != "if" and self.often(50):
                continue
            self.write(f"{word}:" if word == "else" else f"{word} {self.condition(2)}:")
            ends.append(self.inside_branch(lambda: self.block(depth)))
        for end in ends:
            for name in self.scope:
                if end[name] == FLOAT:
                    self.scope[name] = FLOAT

    def loop(self, depth):
        if self.often(60):
            k = self.name("k")
            bounds = self.one(["3", f"{self.whole(1).text} % 4", f"1, {1 + self.below(5)}", "4, -1, -2"])
            self.write(f"for {k} in range({bounds}):")
            self.inside_loop(lambda: self.block(depth), {k: WHOLE})
        else:
            w = self.name("w")
            self.write(f"{w} = {self.whole(1).text} % 4")
            self.write(f"while {w} > 0:")

            def body():
                self.write(f"{w} -= 1")
                self.block(depth)

            self.inside_loop(body, {w: WHOLE})

    def assign(self, new=False):
        able = [n for n in self.scope if n not in self.kept]
        if new or not able or self.often(40):
            value = self.kept_value(self.any(3))
            name = self.name()
        else:
            name = self.one(able)
            want = self.scope[name] if name in self.fixed else None
            value = self.kept_value(self.whole(3) if want == WHOLE else self.any(3))
        self.write(f"{name} = {value.text}")
        self.set(name, value.kind)

    def set(self, name, kind):
        if name not in self.fixed:
            self.scope[name] = kind
        elif self.scope[name] == WHOLE:
            assert kind == WHOLE

    def augment(self):
        able = [n for n in self.scope if n not in self.kept]
        if not able:
            return self.assign(new=True)
        name = self.one(able)
        if self.scope[name] == WHOLE:
            op = self.one(["+", "-", "*", "^", "|", "&"])
            value = self.kept_value(self.whole(2))
            self.write(f"{name} {op}= {value.text}")
            self.write(f"{name} %= {self.one([97, 100, 255])}")
        else:
            value = self.kept_value(self.any(2))
            self.write(f"{name} {self.one('+-')}= {value.text}" if value.most <= MOST else "pass")
            self.write(f"{name} = min(max({name}, -64.0), 64.0)")

    def pair(self):
        able = [n for n in self.scope if n not in self.kept and n not in self.fixed]
        if len(able) >= 2 and self.often(40):
            a, b = able[0], able[-1]
            self.write(f"{a}, {b} = {b}, {a}")
            self.scope[a], self.scope[b] = self.scope[b], self.scope[a]
            return
        a, b = self.name(), self.name()
        first, second = self.kept_value(self.any(2)), self.kept_value(self.any(2))
        if self.often(50):
            self.write(f"{a}, {b} = {first.text}, {second.text}")
        else:
            both = self.name("p")
            self.write(f"{both} = ({first.text}, {second.text})")
            self.write(f"{a}, {b} = {both}[0], {both}[1]")
        self.scope |= {a: first.kind, b: second.kind}

    def local(self, depth):
        kind, dtype = self.one([(WHOLE, "int32"), (WHOLE, "int64"), (FLOAT, "float32"), (FLOAT, "float64")])
        array, k, name = self.name("a"), self.name("k"), self.name()
        self.write(f"{array} = cuda.local.array(4, {dtype})")
        self.write(f"for {k} in range(4):")
        self.inside_loop(lambda: self.write(f"{array}[{k}] = {self.kept_value(self.of(kind, 2)).text}"), {k: WHOLE})
        self.write(f"{array}[{self.whole(1).text} % 4] = {self.kept_value(self.of(kind, 2)).text}")
        self.write(f"{name} = {array}[{self.whole(1).text} & 3]")
        self.scope[name] = kind

    def store(self):
        name = self.one(list(OUTPUTS))
        place = f"{name}[{self.own}]"
        if name == "ob":
            self.write(f"{place} = abs({self.kept_value(self.any(2)).text}) % 200")
        elif name in ("oi", "ol"):
            if self.wild and self.often(40):
                self.write(f"{place} = {self.typed(3)}")
            else:
                self.write(f"{place} {self.one(['=', '=', '+='])} {self.kept_value(self.any(3)).text}")
        elif self.often(35) and (self.wild or name == "of"):
            value, other = self.kept_value(self.any(2)).text, self.kept_value(self.any(2)).text
            text = self.one([f"math.sqrt(abs({value}))", f"{value} / (abs({other}) + 1)"])
            self.write(f"{place} = {text}")
            self.write(f"{place} += 0.0")
        else:
            self.write(f"{place} {self.one(['=', '=', '+='])} {self.kept_value(self.any(3)).text} + 0.0")

    def atomically(self):
        self.write(f"cuda.atomic.{self.atomic}(bins, {self.whole(2).text} % {BINS}, {self.atom()})")

    def atom(self):
        value = self.kept_value(self.whole(2)).text
        return f"abs({value})" if self.atomic == "or_" else value

    def call(self):
        name = self.one(list(self.helpers))
        kinds = self.helpers[name]
        arguments = ", ".join(self.kept_value(self.of(k, 2)).text for k in (WHOLE, FLOAT))
        names = [self.name() for _ in kinds]
        self.write(f"{', '.join(names)} = {name}({arguments})")
        self.scope |= dict(zip(names, kinds, strict=True))

    # ---------------------------------------------------------------------------------------------- together

    def exchange(self):
        kind, dtype = self.one([(WHOLE, "int32"), (WHOLE, "int64"), (FLOAT, "float32"), (FLOAT, "float64")])
        array, name = self.name("sh"), self.name()
        two = self.threads % 2 == 0 and self.often(30)
        shape = f"(2, {self.threads // 2})" if two else self.threads

        def at(text):
            return f"({text}) // {self.threads // 2}, ({text}) % {self.threads // 2}" if two else text

        self.write(f"{array} = cuda.shared.array({shape}, {dtype})")
        self.write(f"{array}[{at('t')}] = {self.kept_value(self.of(kind, 2)).text}")
        self.write("cuda.syncthreads()")
        self.write(f"{name} = {array}[{at(f'{self.whole(2).text} % {self.threads}')}]")
        self.write("cuda.syncthreads()")
        self.scope[name] = kind

    def shared_bins(self):
        op, start = self.one([("add", 0), ("max", -9), ("xor", 5)])
        array, name = self.name("sh"), self.name()
        size = min(4, self.threads)
        self.write(f"{array} = cuda.shared.array({size}, int32)")
        self.write(f"if t < {size}:")
        self.write(f"    {array}[t] = {start}")
        self.write("cuda.syncthreads()")
        self.write(f"cuda.atomic.{op}({array}, {self.whole(2).text} % {size}, {self.kept_value(self.whole(2)).text})")
        self.write("cuda.syncthreads()")
        self.write(f"{name} = {array}[t % {size}] % 97")
        self.write("cuda.syncthreads()")
        self.scope[name] = WHOLE

    def rounds(self):
        """A loop with barriers: a sum over neighbours, or halves of a block."""
        array, name, k = self.name("sh"), self.name(), self.name("k")
        self.write(f"{array} = cuda.shared.array({self.threads}, int32)")
        self.write(f"{name} = {self.kept_value(self.whole(2)).text}")
        self.scope[name] = WHOLE
        self.write(f"for {k} in range({1 + self.below(3)}):")
        self.depth += 1
        self.write(f"{array}[t] = {name}")
        self.write("cuda.syncthreads()")
        self.write(f"{name} = ({name} + {array}[(t + {k} + 1) % {self.threads}]) % 101")
        self.write("cuda.syncthreads()")
        self.depth -= 1

    def count_barrier(self):
        name = self.name()
        self.write(f"{name} = cuda.syncthreads_{self.one(['count', 'and', 'or'])}(int32({self.condition(2)}))")
        if self.wild:
            self.write(f"{name} += 0")
        else:  # the simulator gives a boolean
            self.write(f"{name} = int32({name})")
        self.scope[name] = WHOLE

    def warp(self):
        name, whole = self.name(), f"int32({self.kept_value(self.whole(2)).text})"
        number = self.kept_value(self.of(FLOAT, 2)).text
        mask, kind = "0xffffffff", WHOLE
        way = self.below(7)
        if way < 2:
            op = f"{self.one(['xor_', 'up_', 'down_', ''])}sync({mask}, %s, {1 + self.below(31)})"
            kind, value = self.one([(WHOLE, whole), (FLOAT, f"float32({number})"), (FLOAT, f"float64({number})")])
            text = f"cuda.shfl_{op % value}"
        elif way == 2:
            text = f"cuda.shfl_sync({mask}, {whole}, {self.whole(1).text} % 32)"
        elif way == 3:
            text = f"cuda.popc(cuda.ballot_sync({mask}, {self.condition(2)}))"
        elif way == 4:
            text = f"int32(cuda.{self.one(['all', 'any', 'eq'])}_sync({mask}, {self.condition(2)}))"
        elif way == 5:
            text = f"int64(cuda.match_any_sync({mask}, {whole})) % 101"
        else:
            text = f"int64(cuda.ballot_sync({mask}, {self.condition(2)})) % 103"
        self.write(f"{name} = {text}")
        self.scope[name] = kind

    def helper(self, what):
        """Return the lines of a device function of a whole number and a float, and enter it."""
        name = self.name("helper")
        lines, depth, known, helpers = self.lines, self.depth, self.known, self.helpers
        self.lines, self.depth, self.scope, self.helpers = [], 1, {"a": WHOLE, "b": FLOAT}, {}
        self.arrays_here, kept, self.kept = False, self.kept, {"a", "b"}
        self.write(f"{self.name()} = 0") if self.often(10) else None
        self.assign(new=True)
        if what == "pair":
            values = [self.kept_value(self.any(2)) for _ in range(2)]
            self.write(f"return {values[0].text}, {values[1].text}")
            kinds = [v.kind for v in values]
        elif what == "branch":
            self.write(f"if {self.condition(2)}:")
            first, second = self.kept_value(self.any(2)), self.kept_value(self.any(2))
            self.write(f"    return {first.text}")
            self.write(f"return {second.text}")
            kinds = [WHOLE if first.kind == second.kind == WHOLE else FLOAT]
        else:
            self.loop(1)
            value = self.kept_value(self.any(2))
            self.write(f"return {value.text}")
            kinds = [value.kind]
        made = ["@cuda.jit(device=True)", f"def {name}(a, b):", *self.lines, "", ""]
        self.lines, self.depth, self.known, self.kept, self.arrays_here = lines, depth, known, kept, True
        self.helpers = {**helpers, name: kinds}
        return made

    arrays_here = True

    # ---------------------------------------------------------------------------------------------- expressions

    def any(self, depth):
        return self.of(self.one([WHOLE, FLOAT]), depth)

    def of(self, kind, depth):
        return self.whole(depth) if kind == WHOLE else self.float(depth)

    def kept_value(self, value):
        """Return a value that a variable may have."""
        if value.kind == WHOLE:
            return value if value.most <= KEPT_WHOLE else self.reduced(value)
        text, bits = value.text, value.bits
        if bits > KEPT_BITS:
            text, bits = self.rounded(self.one(["floor", "ceil", "trunc"]), text), 0
        if value.most > KEPT_FLOAT:
            text = f"min(max({text}, -64.0), 64.0)"
        return Value(text, FLOAT, min(value.most + 1, KEPT_FLOAT), bits)

    def rounded(self, way, text):
        if way == "trunc" and not self.wild:  # in the simulator, float32 numbers have none
            text = f"float64({text})"
        return f"math.{way}({text})"

    def reduced(self, value):
        m = self.one([97, 11, 256, 500])
        return Value(f"({value.text} % {m})", WHOLE, m - 1)

    def place(self, depth):
        own = self.own if self.own and not self.two and self.often(50) else None
        return own if own and self.size == self.shape[0] else f"{self.whole(min(depth, 1)).text} % {self.size}"

    def whole_leaf(self, depth):
        names = [n for n, kind in self.scope.items() if kind == WHOLE]
        ways = ["literal", *(["name"] * 3 if names else [])]
        if self.arrays_here:
            ways += ["scalar", "index"] + (["load"] * 3 if depth > 0 else [])
        way = self.one(ways)
        if way == "name":
            return Value(self.one(names), WHOLE, KEPT_WHOLE)
        if way == "scalar":
            return self.one([Value("n", WHOLE, 200), Value("q", WHOLE, 7), Value("xi.shape[0]", WHOLE, 400)])
        if way == "index":
            return self.one([Value(f"cuda.{w}", WHOLE, 64) for w in ("threadIdx.x", "blockIdx.x", "blockDim.x")])
        if way == "load":
            name = self.one(["xi", "xl", "xb", "xu"])
            text, most = f"{name}[{self.place(depth - 1)}]", INPUTS[name][1]
            if name in ("xb", "xu"):
                text = f"{self.one(['int64', 'int32'])}({text})"
            return Value(text, WHOLE, most)
        number = self.below(19) - 9
        return Value(str(number) if number >= 0 else f"({number})", WHOLE, 9)

    def whole(self, depth):
        if depth <= 0 or self.often(15):
            return self.whole_leaf(depth)
        a = self.whole(depth - 1)
        way = self.below(20 if self.wild else 18)
        if way < 5:
            b = self.whole(depth - 1)
            op = self.one("+-*")
            if op == "*" and a.most * b.most > MOST:
                a = self.reduced(a)
            if op == "*" and a.most * b.most > MOST:
                b = self.reduced(b)
            most = a.most * b.most if op == "*" else a.most + b.most
            value = Value(f"({a.text} {op} {b.text})", WHOLE, most)
            return value if most <= MOST else self.reduced(value)
        if way < 8:
            divisor = self.one(["3", "7", "(-4)", f"(abs({self.whole(depth - 1).text}) % 9 + 1)"])
            op = self.one(["//", "%"])
            return Value(f"({a.text} {op} {divisor})", WHOLE, a.most + 1 if op == "//" else 9)
        if way == 8:
            k = self.one(["0", "1", "3", f"({self.whole(0).text} & 3)"])
            return self.bounded(Value(f"({a.text} << {k})", WHOLE, a.most * 8))
        if way == 9:
            return Value(f"({a.text} >> {self.one(['1', '2', f'({self.whole(0).text} & 3)'])})", WHOLE, a.most)
        if way == 10:
            b = self.whole(depth - 1)
            return self.bounded(Value(f"({a.text} {self.one('&|^')} {b.text})", WHOLE, 2 * max(a.most, b.most, 1)))
        if way == 11:
            return Value(self.one([f"(~{a.text})", f"(-{a.text})", f"abs({a.text})"]), WHOLE, a.most + 1)
        if way == 12:
            b = self.whole(depth - 1)
            return Value(f"{self.one(['min', 'max'])}({a.text}, {b.text})", WHOLE, max(a.most, b.most))
        if way == 13:
            b = self.whole(depth - 1)
            return Value(f"({a.text} if {self.condition(depth - 1)} else {b.text})", WHOLE, max(a.most, b.most))
        if way == 14:
            b = self.whole(depth - 1)
            return Value(f"({a.text} {self.one(['and', 'or'])} {b.text})", WHOLE, max(a.most, b.most))
        if way == 15:
            return Value(f"{self.one(['int32', 'int64'])}({self.condition(depth - 1)})", WHOLE, 1)
        if way == 16:
            f = self.float(depth - 1)
            return Value(f"{self.one(['int32', 'int64', 'int', 'round'])}({f.text})", WHOLE, f.most + 1)
        if way == 17:
            a = a if a.most <= 4000 else self.reduced(a)
            return self.bounded(Value(f"({a.text} ** 2)", WHOLE, a.most**2))
        if way == 18:
            if self.arrays_here and self.often(50):
                word = self.one(["xb", "xu"])
                return Value(f"({word}[{self.place(depth - 1)}] {self.one('+-')} {a.text})", WHOLE, a.most + 300)
            return Value(f"{self.one(['int32', 'int64'])}({a.text})", WHOLE, a.most)
        return Value(f"(int64({self.typed(depth - 1)}) % 1009)", WHOLE, 1008) if self.arrays_here else a

    def bounded(self, value):
        return value if value.most <= MOST else self.reduced(value)

    def float_leaf(self, depth):
        names = [n for n, kind in self.scope.items() if kind == FLOAT]
        ways = ["literal", *(["name"] * 3 if names else [])]
        if self.arrays_here:
            ways += ["scalar"] + (["load"] * 3 if depth > 0 else [])
        way = self.one(ways)
        if way == "name":
            return Value(self.one(names), FLOAT, KEPT_FLOAT, KEPT_BITS)
        if way == "scalar":
            return Value("s", FLOAT, 2, 1)
        if way == "load":
            name = self.one(["xf", "xd"])
            return Value(f"{name}[{self.place(depth - 1)}]", FLOAT, *INPUTS[name][1:])
        number = (self.below(33) - 16) / 4
        return Value(str(number) if number >= 0 else f"({number})", FLOAT, 4, 2)

    def float(self, depth):
        if depth <= 0 or self.often(15):
            return self.float_leaf(depth)
        way = self.below(14)
        if way < 3:
            w = self.whole(depth - 1)
            return Value(f"{self.one(['float32', 'float64', 'float'])}({w.text})", FLOAT, w.most)
        a = self.float(depth - 1)
        if way < 8:
            b = self.any(depth - 1) if way < 6 else self.float(depth - 1)
            op = self.one("+-*")
            bits = a.bits + b.bits if op == "*" else max(a.bits, b.bits)
            most = a.most * b.most if op == "*" else a.most + b.most
            if bits > 4 or most * 2**bits > MOST:
                return a
            return Value(f"({a.text} {op} {b.text})", FLOAT, most, bits)
        if way == 8 and a.bits < 4 and a.most * 2 ** (a.bits + 1) <= MOST:
            return Value(f"({a.text} / 2)", FLOAT, a.most, a.bits + 1)
        if way == 9:
            way = self.one(["floor", "ceil", "trunc", "fabs"])
            return Value(self.rounded(way, a.text), FLOAT, a.most + 1, a.bits)
        if way == 10:
            return Value(self.one([f"(-{a.text})", f"abs({a.text})"]), FLOAT, a.most, a.bits)
        if way == 11:
            b = self.any(depth - 1)
            text = f"{self.one(['min', 'max'])}({a.text}, {b.text})"
            return Value(text, FLOAT, max(a.most, b.most), max(a.bits, b.bits))
        if way == 12:
            b = self.any(depth - 1)
            text = f"({a.text} if {self.condition(depth - 1)} else {b.text})"
            return Value(text, FLOAT, max(a.most, b.most), max(a.bits, b.bits))
        if way == 13:
            return Value(f"({a.text} % {self.one(['4.0', '0.5', '8.0'])})", FLOAT, 8, a.bits)
        return Value(f"float32({a.text})", FLOAT, a.most, a.bits)

    def condition(self, depth):
        way = self.below(8)
        if depth <= 0 or way < 3:
            return f"{self.any(depth - 1).text} {self.compare()} {self.any(depth - 1).text}"
        if way == 3:
            texts = [self.any(depth - 1).text for _ in range(3)]
            return f"{texts[0]} {self.one(['<', '<='])} {texts[1]} {self.compare()} {texts[2]}"
        if way == 4:
            return f"not ({self.condition(depth - 1)})"
        if way == 5:
            return f"{self.whole(depth - 1).text} % {self.one([2, 3, 5])} {self.one(['==', '!='])} {self.below(2)}"
        return f"({self.condition(depth - 1)} {self.one(['and', 'or'])} {self.condition(depth - 1)})"

    def compare(self):
        return self.one(["<", "<=", ">", ">=", "==", "!="])

    def typed(self, depth):
        """Return a whole number of all bits, cut to a width: what it is depends on every type on the way."""
        width = self.one(WIDTHS)
        if depth <= 0 or not self.arrays_here:
            if self.arrays_here:
                return f"{width}({self.one([*WILD, 'xi', 'xb'])}[{self.place(0)}])"
            return f"{width}({self.whole(0).text})"
        a, way = self.typed(depth - 1), self.below(8)
        if way < 4:
            return f"{width}({width}({a}) {self.one('+-*&|^')} {width}({self.typed(depth - 1)}))"
        if way == 4:
            return f"{width}({a} {self.one(['<<', '>>'])} {width}({self.below(8)}))"
        if way == 5:
            return f"{width}({a}) {self.one(['//', '%'])} {width}({self.one([3, 7, 100])})"
        if way == 6:
            return f"{self.one(['min', 'max'])}({width}({a}), {width}({self.typed(depth - 1)}))"
        return f"{width}(~{width}({a}))"

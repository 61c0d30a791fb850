"""The loads and stores of a compiled turn; each is written down for `account`.

Source: the course's own (`access`, `elements`, `places`).
"""

import ast

import numpy as np

from course_lib.simt.alone.writer import INT, NO, TYPES, UNSURE, YES, NotPlain, NotYet, Number, Site
from course_lib.simt.literals import is_from_outside
from course_lib.simt.memory import View


class Arrays:
    """The part of a translation that writes loads and stores. Source: the course's own."""

    def _of_Subscript(self, node):
        owner = self.value(node.value)
        if isinstance(owner, tuple):
            if not isinstance(node.slice, ast.Constant) or type(node.slice.value) is not int:
                raise NotPlain("a part of a tuple")
            if not -len(owner) <= node.slice.value < len(owner):
                raise NotPlain("a part of a tuple")
            return owner[node.slice.value]
        view, cell = self._cell(node)
        return self._load(node, view, cell)

    def _cell(self, node):
        """Return (view, the name of the cell that a subscript means); outside of the array the turn is unusual."""
        view = self.value(node.value)
        if not isinstance(view, View) or type(view) is not View or view.dtype not in TYPES:
            raise NotPlain("a subscript of something else than an array of numbers")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        sizes_differ = any(np.ndim(s) for s in view.shape)
        memory = view.memory
        if len(parts) != view.ndim or sizes_differ or view.there is not None or memory.split != 1 or memory.fields:
            raise NotPlain("an array of another kind")
        if memory.cells.ndim != 1 or not memory.cells.flags.c_contiguous or not memory.cells.dtype.isnative:
            raise NotPlain("an array of another kind")
        offset = view.offset[self.lane] if np.ndim(view.offset) else view.offset
        terms = [self.text.parameter(np.int64(offset), ("offset", id(view)))]
        for axis, part in enumerate(parts):
            index = self.value(part)
            if not isinstance(index, Number) or index.dtype.kind not in "iu":
                raise NotPlain("an index of another kind")
            size = self.text.parameter(np.int64(view.shape[axis]), ("size", id(view), axis))
            if isinstance(part, ast.UnaryOp) and is_from_outside(part, self.names.source):
                raise NotPlain("an index that counts from the end")
            k = self.text.let(f"np.int64({index.text})", INT)
            self.text.unusual(f"{k.text} < 0 or {k.text} >= {size}")
            terms.append(f"{k.text} * {self.text.parameter(np.int64(view.strides[axis]), ('stride', id(view), axis))}")
        self.text.known["kept", id(view)] = None, view
        return view, self.text.let(" + ".join(terms), INT).text

    def _event(self, node, view, way, cell, sure=False):
        self.text.sites.append(Site(node, self.names.source, view, way, sure))
        self.text.unusual("e >= room")
        self.text.line(f"site[e] = {len(self.text.sites) - 1}")
        self.text.line(f"cell[e] = {cell}")
        return self.text.memory(view.memory)

    def _load(self, node, view, cell):
        m = self.text.memory(view.memory)
        if not view.memory.all_written:
            self.text.unusual(f"not w{m}[{cell}]")
        self._event(node, view, "load", cell)
        self.text.line("e += 1")
        return self.text.let(f"c{m}[{cell}]", view.dtype, YES)

    def _store(self, node, view, cell, value):
        memory = view.memory
        if not view.writable or memory.space == "constant" or not isinstance(value, Number):
            raise NotPlain("a store of another kind")
        if value.vector == UNSURE:
            raise NotYet("a number that may be the same in all lanes")
        sure = value.vector == NO
        value = self.cast(value, view.dtype)
        m = self._event(node, view, "store", cell, sure)
        self.text.line(f"old[e] = b{m}[{cell}]")
        gaps = not memory.all_written
        if gaps:
            self.text.line(f"was[e] = w{m}[{cell}]")
        self.text.line(f"c{m}[{cell}] = {value.text}")
        if gaps:
            self.text.line(f"did[e] = 2 if b{m}[{cell}] != old[e] or not was[e] else {0 if sure else 1}")
            self.text.line(f"w{m}[{cell}] = True")
        else:
            self.text.line(f"did[e] = 2 if b{m}[{cell}] != old[e] else {0 if sure else 1}")
        self.text.line("e += 1")

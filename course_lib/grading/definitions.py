"""An answer's source: the function that a notebook's check judges, and all that it uses of the notebook.

In a run-all the check of a question stands behind its answer, and what later cells name again does not matter to it.
So each name means here what it means at the check: what was given last before it. The text is read and never run.

Source: the course's own.
"""

import ast
import builtins
from bisect import bisect_left

from course_lib.checks.scopes import reads
from course_lib.grading.statements import Statement, Statements, first_line, opened, parsed, text_of

_BUILTINS = frozenset(dir(builtins))
_MAKERS = {"jit", "njit", "partial", "vectorize", "lru_cache", "cache"}
"""What makes a function of a function."""


class Definitions:
    """The names that the cells of a notebook give a meaning at their top level, by their position.

    Parameters
    ----------
    sources : sequence of str
        The text of each code cell, in order, cells with checks among them. What Python cannot read is left out.

    No errors. Source: the course's own.
    """

    def __init__(self, sources):
        read = Statements(sources)
        self._all, self._checks, self._ends = read.all, read.checks, read.ends
        self._given, self._changed = {}, {}
        for statement in self._all:
            for name in statement.gives:
                self._given.setdefault(name, []).append(statement.place)
            for name in statement.changes:
                self._changed.setdefault(name, []).append(statement.place)

    def has(self, name):
        """Return whether a name is defined. No errors. Source: the course's own."""
        return name in self._given

    def nodes(self, name):
        """Return the statements that an answer consists of, in order, as (node, text). No errors.

        Source: the course's own.
        """
        return [(s.node, s.text) for s in self._statements(*self._found("", name))] if self.has(name) else []

    def source(self, name):
        """Return an answer's text, "" if there is none. No errors. Source: the course's own."""
        return _joined(text for _, text in self.nodes(name))

    def answer(self, exercise):
        """Return the text of an exercise's answer, "" if there is none: its function and what it reaches.

        Parameters
        ----------
        exercise : Exercise
            Its id, its function's name and that of its `launcher` are used.

        The text gives `exercise.function` a value, in the order of the notebook: where a check was given another name,
        as in check("01.1", my_fit), it ends with fit_line = my_fit. What can give any name a value, such as a call of
        exec, belongs to every answer. No errors. Source: the course's own.
        """
        return _joined(text for text, _ in self._pieces(exercise))

    def numbers(self, exercise):
        """Return the number that each line of `answer` has in its cell, 0 for the empty ones between statements.

        No errors. Source: the course's own.
        """
        numbers = []
        for text, first in self._pieces(exercise):
            numbers += [0] * bool(numbers) + [*range(first, first + text.count("\n") + 1)]
        return numbers

    def _pieces(self, exercise):
        """Return [(text, number of its first line in its cell)] of the statements of an answer, in order."""
        place, end = self._found(exercise.id, exercise.function)
        if place is not None:
            beside = {name for name in (getattr(exercise, "launcher", ""),) if name}
            return _with_text(self._statements(place, end, beside=beside))
        checks = [c for c in self._checks if c.id == exercise.id and c.answer is not None]
        if not checks:
            return _with_text(s for s in self._statements(None, len(self._all)) if s.wild)
        check = checks[-1]
        given = ast.copy_location(ast.Assign([ast.Name(exercise.function, ast.Store())], check.answer), check.answer)
        last = Statement(check.place, 0, given, [])
        last.now, last.later = reads(check.scopes.walk(check.answer))
        own = isinstance(check.answer, ast.Name) and check.answer.id == exercise.function
        beside = {name for name in (getattr(exercise, "launcher", ""),) if name}
        pieces = _with_text(self._statements(None, check.place, last, beside))
        alias = text_of([], ast.fix_missing_locations(given))
        return pieces if own or not alias else [*pieces, (alias, check.answer.lineno)]

    def where(self, exercise):
        """Return (cell of the answer's definition, cell of the check that it is judged by), numbers from 0.

        The second is None where no check follows, both are None where nothing defines the function. No errors.
        Source: the course's own.
        """
        place, check = self._judged(exercise.id, exercise.function)
        return tuple(None if at is None else self._all[at].cell for at in (place, check))

    def _found(self, id, name):
        """Return (place of a function's definition, place as of which its names count), (None, 0) if there is none."""
        place, check = self._judged(id, name)
        if place is None:
            return None, 0
        return place, self._ends[self._all[place].cell] if check is None else check

    def _judged(self, id, name):
        """Return (place of a function's definition, place of its check), None for what there is not.

        The last definition counts, and the first check behind it. A later statement that only gives the name another
        value, as margin = 0.5 below the check of margin, is no definition.
        """
        places = self._given.get(name, [])
        if not places:
            return None, None
        checks = sorted(c.place for c in self._checks if self._judges(c, id, name))
        place = max((p for p in places if self._is_function(p, name)), default=None)
        if checks and (judged := _last_before(places, checks[-1])) is not None:
            place = judged if place is None else max(place, judged)
        place = places[-1] if place is None else place
        return place, next((c for c in checks if c > place), None)

    @staticmethod
    def _judges(check, id, name):
        return check.id == id if id else isinstance(check.answer, ast.Name) and check.answer.id == name

    def _is_function(self, place, name):
        """Return whether a statement plainly gives a name a function."""
        node = self._all[place].node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return node.name == name
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            if isinstance(node.value, ast.Call):
                return any(_name(n) in _MAKERS for n in ast.walk(node.value))
            if isinstance(node.value, ast.Name):
                places = self._given.get(node.value.id, [])
                given = _last_before(places, place)
                return given is not None and self._is_function(given, node.value.id)
            return isinstance(node.value, ast.Lambda | ast.Attribute)
        return False

    def _statements(self, place, end, last=None, beside=()):
        """Return the statements that one reaches, in order; names in its functions mean what they mean at `end`.

        So do the names `beside`, which it need not reach.
        """
        found, waiting, stars = set(), [place] if place is not None else [], False
        waiting += [s.place for s in self._all if s.wild]
        asked = {(name, end) for name in {*beside, *(last.now | last.later if last else ())}}
        for name in self._all[place].gives if place is not None else ():
            waiting += [c for c in self._changed.get(name, []) if place < c < end]
        seen = set()
        while waiting or asked:
            while waiting:
                at = waiting.pop()
                if at not in found:
                    found.add(at)
                    statement = self._all[at]
                    asked |= {(name, at) for name in statement.now} | {(name, end) for name in statement.later}
            new, asked = asked - seen, set()
            seen |= new
            for name, before in new:
                given = self._resolve(name, before)
                if given is None:
                    stars = stars or name not in _BUILTINS
                    continue
                changes = self._changed.get(name, [])
                waiting += [given, *(c for c in changes if given < c < max(before, end))]
        found |= {s.place for s in self._all if s.star} if stars else set()
        return [self._all[at] for at in sorted(found)]

    def _resolve(self, name, before):
        """Return the place that gives a name its value there; of names given only later, the first that does."""
        places = self._given.get(name, [])
        given = _last_before(places, before)
        return given if given is not None else next((p for p in places if p >= before), None)


def _last_before(places, before):
    at = bisect_left(places, before)
    return places[at - 1] if at else None


def _name(node):
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _with_text(statements):
    """Return (text, number of its first line in its cell) of statements that have one."""
    return [(text, first_line(s.node)) for s in statements if (text := s.text)]


def _joined(texts):
    texts = [text for text in texts if text]
    return "\n\n".join(texts) + "\n" if texts else ""


def top_level(source):
    """Return the statements of a cell that are run when it is, [] if Python cannot read it. No errors.

    Source: the course's own.
    """
    scopes, _ = parsed(source)
    return list(opened(scopes.tree.body)) if scopes else []


def only_definitions(source):
    """Return a cell without what it does: its imports, functions and classes. No errors. Source: the course's own."""
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    scopes, text = parsed(source)
    lines = text.split("\n")
    return "\n".join(text_of(lines, n) for n in (opened(scopes.tree.body) if scopes else ()) if isinstance(n, kept))

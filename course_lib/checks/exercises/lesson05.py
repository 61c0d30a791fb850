"""Exercises of lesson 05, the computation graph, with their public cases.

Right values are in `lesson05_values`, usual mistakes in `lesson05_mistakes`.

Graphs are plain dicts and lists here; no library of nodes is needed.

Source: Dey, "Computation Graph", "Computations for a CG" and "Building a DL Library".
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.exercises import lesson05_mistakes as mistakes
from course_lib.checks.exercises.lesson05_values import computing_order, derivatives, early, share, visits

_DIAMOND = [("u", "*", "x", "w"), ("v", "+", "x", "w"), ("J", "*", "u", "v")]

EXERCISES = (
    Exercise(
        id="05.1",
        function="too_early",
        title="Who stands too early?",
        points=2,
        level="warm-up",
        concept="what makes a list of nodes a topological order",
        source='Dey, "Computation Graph"',
        lines=5,
        expect=early,
        cases=(
            Case(
                ({"x": [], "w": [], "u": ["x", "w"], "v": ["x", "w"], "J": ["u", "v"]}, ["w", "u", "x", "v", "J"]),
                "u needs x",
            ),
            Case(({"J": ["b", "a"], "a": ["x"], "b": ["x"], "x": []}, ["x", "b", "J", "a"]), "J needs a"),
            Case(({"J": ["a", "b"], "a": ["x"], "b": ["x"], "x": []}, ["x", "b", "a", "J"]), "nobody"),
            Case(({"J": ["a", "b"], "a": ["x"], "b": ["x"], "x": []}, ["b", "J", "x", "a"]), "b needs x, J needs a"),
        ),
        section="Build it: an order",
        causes=mistakes.EARLY,
    ),
    Exercise(
        id="05.2",
        function="computing_order",
        title="An order without recursion",
        points=3,
        level="core",
        concept="a topological order by asking again and again which node is ready",
        source='Dey, "Computations for a CG"',
        lines=7,
        expect=computing_order,
        cases=(
            Case(({"J": ["u", "v"], "v": ["x", "w"], "u": ["x", "w"], "w": [], "x": []},), "the lesson's diamond"),
            Case(({"m": [], "z": [], "a": ["m"], "b": ["a"]},), "z is ready all the time, and last in the alphabet"),
            Case(({"x": [], "a": ["x", "c"], "c": ["a"], "b": ["x"]},), "a and c wait for each other"),
        ),
        section="Build it: an order",
        causes=mistakes.ORDER,
        instead_of=("TopologicalSorter", "graphlib", "topological_order"),
    ),
    Exercise(
        id="05.3",
        function="gradients",
        title="Every gradient of a formula",
        points=4,
        level="core",
        concept="values forward, shares backward, a sum where a node is used twice",
        source='Dey, "Computations for a CG"',
        lines=12,
        expect=derivatives,
        cases=(
            Case(({"x": 3, "w": 2}, _DIAMOND), "the lesson's diamond: 16 and 21"),
            Case(({"a": 5.0, "b": 2.0}, [("d", "-", "a", "b"), ("q", "/", "d", "b")]), "(a - b) / b"),
            Case(
                ({"x": 3.0, "y": 7.0}, [("s", "*", "x", "x"), ("n", "+", "y", "x"), ("J", "-", "s", "x")]),
                "x x - x; n and y do not lead to J",
            ),
        ),
        section="Build it: forward and backward",
        causes=mistakes.GRADIENTS,
        rtol=1e-11,  # a measured derivative is further off
    ),
    Exercise(
        id="05.4",
        function="visits",
        title="One visit a node, one visit a path",
        points=3,
        level="core",
        concept="why the order matters for the cost: paths grow like powers of two, nodes do not",
        source='Dey, "Computations for a CG"; the count is the course\'s own',
        lines=8,
        expect=visits,
        cases=(
            Case(([("x", []), ("a", ["x"]), ("J", ["a", "a"])],), "J = a + a: the lesson's example"),
            Case(([("x", []), ("w", []), ("u", ["x", "w"]), ("v", ["x", "w"]), ("J", ["u", "v"])],), "the diamond"),
            Case(([("x", []), ("y", []), ("n", ["x", "y"]), ("J", ["x"])],), "n and y do not lead to J"),
        ),
        section="What if a node is visited twice?",
        causes=mistakes.VISITS,
    ),
    Exercise(
        id="05.5",
        function="share_of",
        title="Broadcasting is a node used many times",
        points=3,
        level="stretch",
        concept="the share of a bias is a sum over all places that it was added to",
        source='Dey, "Computations for a CG"; broadcasting is the course\'s addition',
        lines=5,
        expect=share,
        cases=(
            Case((np.array([[1, 2, 3], [40, 50, 60]]), (3,)), "a bias, added to 2 samples"),
            Case((np.array([[1.0, 2.0, 3.0], [40.0, 50.0, 60.0]]), (2, 1)), "a column, added to 3 columns"),
            Case((np.array([[1.0, -2.0], [0.5, 4.0], [3.0, 0.25]]), (3, 2)), "nothing was repeated"),
            Case((np.array([[1.0, 2.0], [30.0, 40.0]]), (2,)), "as many samples as numbers in the bias"),
        ),
        section="What one plus sign is worth",
        causes=mistakes.SHARE,
    ),
)
"""In the order of the sheet."""

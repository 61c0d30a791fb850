"""The name of a team is a text between quotes, read from the notebook and never computed."""

import pytest

from course_lib.grading.team import team_name

LETTERS = "\u017d\u016f\u017ee \u0928\u092e\u0938\u094d\u0924\u0947 \u6d4b\u8bd5 \u2764"

READ = {
    "a text": (['TEAM = "Halo"'], "Halo"),
    "the last one": (['TEAM = "A"', 'x = 1\nTEAM = "B"'], "B"),
    "with a type": (['TEAM: str = "A"'], "A"),
    "none": (["x = 1"], ""),
    "computed": (['TEAM = "A" * 1000'], ""),
    "a call": (["TEAM = open('/etc/passwd').read()"], ""),
    "an f-string": (['TEAM = f"{1 + 1}"'], ""),
    "bytes": (['TEAM = b"A"'], ""),
    "in a comment": (['# TEAM = "A"'], ""),
    "no Python": (['TEAM = "A', 'TEAM = "B"'], "B"),
    "a magic above": (['%time 1\nTEAM = "A"'], "A"),
    "long": (['TEAM = "' + "x" * 1000 + '"'], "x" * 39 + "\u2026"),
    "two lines": (['TEAM = "A\\nB"'], "A B"),
    "seen by nobody": (['TEAM = "\\u3164"'], "\\u3164"),
    "a hyphen that is not shown": (['TEAM = "Ha\\u00adlo"'], "Ha\\u00adlo"),
    "a letter of nobody's": (['TEAM = "\\U000e0041"'], "\\ue0041"),
    "a tower of marks": (['TEAM = "a' + "\\u0335" * 3 + '"'], "a\u0335\u0335\\u0335"),
    "letters of all people": ([f'TEAM = "{LETTERS}\ufe0f"'], LETTERS),
    "turned around": (['TEAM = "\\u202eA"'], "\\u202eA"),
}


@pytest.mark.parametrize(("sources", "name"), READ.values(), ids=READ)
def test_a_name_is_read_as_it_stands(sources, name):
    assert team_name(sources) == name

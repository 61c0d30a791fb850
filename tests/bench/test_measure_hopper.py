"""The tool that verifies Hopper's rungs on a card runs small on the executor, and tells what is wrong or hangs."""

import json
import stat

import numpy as np
import pytest

from course_lib import gpu
from tests.bench.test_bench_gpu import pytestmark as on_the_executor
from tools import measure_hopper as tool
from tools.hopper import choices, parts

pytestmark = on_the_executor


def test_its_parts_run_small_and_find_every_choice_right(tmp_path, capsys):
    out = tmp_path / "found.json"
    parts_ = ["v11", "half choices", "TF32 4096", "graph"]
    assert tool.main(["--tiny", "--seconds", "300", "--only", *parts_, "--out", str(out)]) == 0
    found = json.loads(out.read_text())
    assert list(found["parts"]) == parts_
    assert found["failures"] == {}
    for part in ("v11", "half choices", "graph"):
        assert all(row["right"] for row in found["parts"][part])
    assert {row["choice"] for row in found["parts"]["half choices"]} == {*choices.of("half")} - {"bf16"}
    timed = {row["choice"]: row for row in found["parts"]["TF32 4096"]}
    assert timed.keys() == {*choices.of("v11"), *choices.of("v12"), "v10"}
    assert all(row["share"] <= 1 and row["seconds"] == 1 for row in timed.values())
    said = capsys.readouterr().out
    assert "4 right; normal numbers within" in said
    assert len(said) < 10_000


def test_every_choice_has_the_kernel_that_it_says_and_other_rows_have_the_rung_below():
    for name, choice in choices.CHOICES.items():
        assert name.split()[0] in (choice.rung, "bf16", "f16")
    assert [next(iter(choices.of(rung))) for rung in tool.RUNGS] == ["v11", "v12", "v13", "bf16"]
    assert choices.CHOICES["v12"].takes(8, 12)
    assert not choices.CHOICES["v12"].takes(8, 13)
    assert choices.CHOICES["f16"].takes(7, 13)


def test_short_numbers_are_the_same_in_both_formats_of_16_bits():
    found = choices.numbers(np.random.default_rng(0), 300, 400, short=True)
    np.testing.assert_array_equal(found.astype(np.float16).astype(np.float32), found)
    bits = gpu.to_host(choices.CHOICES["bf16"].operand(found))
    np.testing.assert_array_equal((bits.astype(np.uint32) << 16).view(np.float32), found)


def test_another_kernel_than_the_choices_own_is_no_success(monkeypatch):
    monkeypatch.setattr("course_lib.cuda.capability.EVERY", (8, 0))  # the launcher hands over to v10
    found = parts._compared(choices.CHOICES["v12"], 8, 8, 8, True, parts.with_numpy)
    assert (found["right"], found["said"]) == (False, "_gemm_v10 did it, not _gemm_v12")


def test_a_launch_that_fails_is_a_row_and_the_next_size_is_tried(monkeypatch):
    def refuses(A, B, C):
        raise RuntimeError("the driver refuses clusters of 2 blocks.")

    told = []
    monkeypatch.setitem(choices.CHOICES, "v11", choices.Choice("v11", "TF32", "_gemm_v11", refuses))
    parts.verify("v11", told.append, True, [])
    rows = [one["row"] for one in told if "row" in one]
    assert [row["size"] for row in rows] == ["256 x 128 x 96"] * 2 + ["1 x 4 x 4"] * 2
    assert {row["said"] for row in rows} == {"RuntimeError: the driver refuses clusters of 2 blocks."}
    assert told[0] == {"begins": "v11, 256 x 128 x 96, whole numbers"}


def test_what_is_wrong_is_told_by_where_it_is():
    exact = np.arange(12.0).reshape(3, 4)
    assert parts._differences(exact.astype(np.float32), exact) == {"right": True, "said": ""}
    found = exact.copy()
    found[1, 2:], found[2, 3] = (0, np.nan), 7
    words = parts._differences(found, exact)["said"]
    assert words == "3 of 12 differ, 1 NaN, in rows 1 to 2 and columns 2 to 3; [1, 2] is 0, not 6"


def test_a_part_that_hangs_or_fails_costs_no_other_and_its_choice_is_left_out(monkeypatch, capsys):
    rows, failure, last = tool.run_apart("v11", True, [], 0.05)
    assert (rows, last) == ([], "")
    assert failure == "not done after 0.05 s"
    rows, failure, _ = tool.run_apart("no such part", True, [], 60)
    assert rows == []
    assert failure.startswith("exit status 2: ")
    assert "invalid choice" in failure

    skipped = {}

    def apart(part, tiny, skip, seconds):
        skipped[part] = skip
        wrong = dict(choice="v13 apart", size="8 x 8 x 8", numbers="whole", right=False, share=None, said="3 differ")
        return {
            "v12": ([], "not done after 40 s; last begun: v12, 8 x 8 x 8, whole numbers", "v12, 8 x 8 x 8, whole"),
            "v13 choices": ([wrong], "not done after 40 s; last begun: v13 192", "v13 192, 8 x 8 x 8, whole numbers"),
        }.get(part, ([], "", ""))

    monkeypatch.setattr(tool, "run_apart", apart)
    assert tool.main(["--tiny", "--only", "v12", "v13 choices", "graph"]) == 1
    assert skipped["v13 choices"] == sorted(choices.of("v12"))
    assert set(skipped["graph"]) == {*choices.of("v12"), "v13 apart", "v13 192"}
    said = capsys.readouterr().out
    assert "v12, 0 s: FAILED: not done after 40 s; last begun: v12, 8 x 8 x 8, whole numbers" in said
    assert "v13 apart          1 of 1 WRONG, first 8 x 8 x 8, whole: 3 differ" in said


def timing(choice, seconds=None, of_rival=None, rival="cuBLAS TF32", **more):
    found = dict(choice=choice, case="c", said="", rival=rival, of_rival=of_rival, error=1e-6, share=0.1)
    if seconds:
        found |= dict(seconds=seconds, spread=0.5, tflops=300.0)
    return found | more


def test_a_table_has_a_line_for_each_choice_the_fastest_first_and_the_last_lines_judge():
    rows = [timing("v11", 5e-4, 0.6), timing("v12 cluster", 4e-4, 0.75), timing("v12", said="wrong: relative error 1")]
    lines = tool.table("TF32 4096", rows)
    assert [line.split()[0] for line in lines[1:]] == ["v12", "v11", "v12"]
    assert lines[1] == "  v12 cluster            400us ± 0.5%    300.0    0.750  1.0e-06"
    assert lines[3].endswith("wrong: relative error 1")
    three = [timing("v13", 1e-3, 2.5, "cuBLAS", of_error=0.8), timing("v13 apart", 9e-4, 2.6, "cuBLAS", of_error=1.6)]
    half = [timing("bf16", 2e-4, 0.6, "cuBLAS BF16"), timing("f16 cluster", 2e-4, 0.9, "cuBLAS FP16")]
    said = tool.verdicts({"TF32 4096": rows, "3xTF32 4096": three, "16 bits 8192": half, "TF32 8192": [], "graph": []})
    assert [" ".join(line.split()) for line in said] == [
        "fastest of each, floor / goal",
        "TF32 4096 v12 cluster 0.750 of cuBLAS TF32, 0.7 / 0.9: floor",
        "3xTF32 4096 v13 2.500 of cuBLAS, 1.9 / 2.4: goal",
        "16 bits 8192 bf16 0.600 of cuBLAS BF16, 0.65 / 0.85: BELOW",
        "16 bits 8192 f16 cluster 0.900 of cuBLAS FP16, 0.65 / 0.85: goal",
        "TF32 8192 v nothing was timed beside its rival",
    ]


def test_a_row_of_times_has_its_rivals_share_and_the_error_of_cublas():
    def t(seconds):
        return dict(median=seconds, lower=seconds, upper=seconds, rounds=20, calls=1)

    row = parts.SimpleNamespace(case="c", flops=2e12, failures={"v13 apart": "wrong"})
    row.timings = {"v13": t(1.0), "cuBLAS": t(2.0), "bf16": t(4.0), "cuBLAS BF16": t(1.0)}
    row.errors = {"v13": [2e-6, 0.5], "cuBLAS": [4e-6, 0.5], "v13 apart": [1.0, 9.0], "bf16": [1e-6, 0.1]}
    found = parts._timing("v13", choices.CHOICES, row)
    assert (found["rival"], found["of_rival"], found["of_error"], found["tflops"]) == ("cuBLAS", 2, 0.5, 2)
    assert parts._timing("bf16", choices.CHOICES, row)["of_rival"] == 0.25
    assert "seconds" not in parts._timing("v13 apart", choices.CHOICES, row)
    assert parts._timing("cuBLAS", choices.CHOICES, row)["of_rival"] is None


def test_choices_are_compiled_in_shares_and_what_fails_is_told(monkeypatch):
    told = []

    def at_once(lines, seconds):
        assert [line[-2:] for line in lines.values()] == [["--part", "compile 0"], ["--part", "compile 1"]]
        one = json.dumps({"row": {"choice": "v11", "seconds": 2.5}})
        return [(0, one + "\nptxas refuses the kernel\n", ""), (1, "", "not done after 35 s; ")]

    monkeypatch.setattr(parts, "SHARES", 2)
    monkeypatch.setattr(parts, "_at_once", at_once)
    parts.compile_all(told.append, False, [])
    lines = tool.table("compile", [one["row"] for one in told])
    names = list(choices.CHOICES)
    assert lines == [
        "  1 compiled, the slowest in 2.5 s",
        f"  {names[2]} WRONG: ptxas refuses the kernel",
        f"  {names[1]} WRONG: not done after 35 s; ",
    ]


def test_the_executor_compiles_nothing():
    told = []
    parts.compile_all(told.append, True, [])
    assert told == []


CLEAN = '========= COMPUTE-SANITIZER\n{"row": {"right": true}}\n========= ERROR SUMMARY: 0 errors\n'
RACES = (
    "========= COMPUTE-SANITIZER\n========= Error: Race reported between Write access and Read access\n"
    "========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)\n"
)


@pytest.mark.parametrize(
    ("text", "late", "right", "words"),
    [
        (CLEAN, "", True, "0 errors"),
        (RACES, "", False, "2 errors; Error: Race reported between Write access and Read access"),
        (CLEAN.replace("true", "false"), "", False, "0 errors; and a wrong result"),
        ("it ended\n", "", None, "no summary: it ended"),
        (CLEAN, "not done after 35 s; ", None, "not done after 35 s; no summary"),
    ],
)
def test_the_sanitizers_words_are_right_wrong_or_no_answer(text, late, right, words):
    found = parts.judged(text, late)
    assert found["right"] is right
    assert found["said"].startswith(words)


def test_the_sanitizer_is_run_for_each_tool_and_rung_and_where_it_is_not_that_is_said(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(parts, "sanitizer_place", lambda: None)
    parts.sanitizer(told.append, True, [])
    assert told[0]["row"]["said"].startswith("compute-sanitizer is not on the PATH")
    program = tmp_path / "compute-sanitizer"
    program.write_text(f"#!/bin/sh\nprintf '%s' '{CLEAN}'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert parts.sanitizer_place() == str(program)
    told.clear()
    parts.sanitizer(told.append, True, list(choices.of("v11")))
    rows = [one["row"] for one in told]
    assert {(r["tool"], r["rung"]) for r in rows} == {
        (t, r) for t in ("memcheck", "racecheck", "synccheck") for r in ("v12", "v13", "half")
    }
    assert all(row["right"] for row in rows)
    lines = tool.table("sanitizer", rows)
    assert lines[0].split() == ["memcheck", "v12", "right", "0", "errors"]


def test_what_hangs_under_the_sanitizer_is_ended(tmp_path, monkeypatch):
    program = tmp_path / "compute-sanitizer"
    program.write_text("#!/bin/sh\nexec /bin/sleep 600\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(parts, "sanitizer_place", lambda: str(program))
    told = []
    parts.sanitizer(told.append, True, [n for n in choices.CHOICES if n != "v11"], seconds=0.5)
    assert {one["row"]["right"] for one in told} == {None}
    assert all(one["row"]["said"].startswith("not done after 0.5 s") for one in told)


def test_what_the_sanitizer_watches_runs_here_too(monkeypatch, capsys):
    monkeypatch.setattr("course_lib.cuda.capability.EVERY", (9, 0))
    monkeypatch.setattr(parts, "SMALL_SIZE", (132, 132, 60))
    told = []
    parts.small("v13", told.append)
    assert [(one["row"]["choice"], one["row"]["right"]) for one in told] == [("v13", True), ("v13 cluster", True)]


def test_without_the_card_nothing_is_measured(capsys):
    with pytest.raises(SystemExit):
        tool.main([])
    assert "measured on compute capability 9.0" in capsys.readouterr().err

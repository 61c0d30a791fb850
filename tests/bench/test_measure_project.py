"""The project's reference kernels are built and compared as on a card, and every one has a row."""

import json

import measure_project
from project_teams import key


def test_every_reference_kernel_is_compared_and_then_timed():
    calls = []

    def timer(rivals):
        calls.append({name: len(each) for name, each in rivals.items()})
        for call in (c for each in rivals.values() for c in each):
            call()
        return {name: 1e-4 for name in rivals}

    found = list(measure_project.rows(3, timer))
    assert [(r["layer"], r["kernel"]) for r in found] == [(la, n) for la, t in key().REFERENCES.items() for n in t]
    assert [(r["microseconds"], r["vendor"], r["reason"]) for r in found] == [(100.0, 100.0, "")] * len(found)
    assert calls == [{"team": 2, "vendor": 2}] * len(found)


def test_a_kernel_that_is_wrong_has_a_reason_and_no_time(monkeypatch, tmp_path):
    wrong = {"c1": {"basic": key().REFERENCES["c1"]["basic"].replace("acc += ", "acc -= ")}, "c3": {}}
    monkeypatch.setattr(measure_project.project_teams, "key", lambda: type("Key", (), {"REFERENCES": wrong}))
    measure_project.main(tmp_path / "project.json", 3)
    said = json.loads((tmp_path / "project.json").read_text("utf-8"))
    (row,) = said["rows"]
    assert said["machine"]["versions"]["numpy"]
    assert row["microseconds"] is None
    assert "results are wrong" in row["reason"]

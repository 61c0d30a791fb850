"""Twelve made-up teams of the convolution project, graded as a class: points, reports, and the leaderboard."""

import csv
import json
import os
import subprocess
import sys
from fractions import Fraction

import project_teams
import pytest

from tests.setup.project import ROOT


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """(folder of the results, what the command said) of all teams."""
    folder = tmp_path_factory.mktemp("project")
    project_teams.write(folder / "teams")
    done = subprocess.run(
        [sys.executable, "-m", "course_lib", "grade", str(folder / "teams"), "-o", str(folder / "out"),
         "--leaderboard"],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT), "COURSE_DEVICE": "simt"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out", done.stdout


def results(out):
    found = [json.loads(path.read_text()) for path in (out / "results").glob("*.json")]
    return {result["student"]: result for result in found}


def table(out, name="leaderboard.csv"):
    return list(csv.DictReader((out / name).read_text(encoding="utf-8-sig").splitlines()))


@pytest.mark.parametrize("team", project_teams.teams(), ids=lambda team: team.folder)
def test_each_team_gets_what_it_is_due(graded, team):
    result = results(graded[0])[team.folder]
    assert result["status"] == "graded"
    assert Fraction(result["points"]) == team.due, [q["lost"] for q in result["questions"]]
    assert result["team"] == team.chosen


def test_the_last_stage_stands_for_the_earlier_ones_and_only_when_it_is_whole(graded):
    by_id = {q["id"]: q for q in results(graded[0])["team-c"]["questions"]}
    assert [by_id[id]["points"] for id in ("project.1", "project.3", "project.4", "project.6")] == ["5", "3", "4", "6"]
    assert by_id["project.1"]["by"] == "project.8"
    said = "project.1, project.3, project.4, project.6 count as solved, as project.8 is right in all its parts."
    assert said in results(graded[0])["team-c"]["notes"]
    assert said in (graded[0] / "reports" / "team-c.html").read_text()
    by_id = {q["id"]: q for q in results(graded[0])["team-k"]["questions"]}
    assert by_id["project.1"]["points"] == "0"


def test_the_leaderboard_has_places_stages_and_chosen_names(graded):
    teams = {team.folder: team for team in project_teams.teams()}
    shown = {row["shown as"]: teams[row["student"]] for row in table(graded[0], "leaderboard_who.csv")}
    rows = table(graded[0])
    assert [(row["place"], shown[row["team"]].folder) for row in rows[:4]] == [
        ("1", "team-a"), ("2", "team-b"), ("3", "team-h"), ("4", "team-g")
    ]  # fmt: skip
    assert all(row["stage"] == shown[row["team"]].stage for row in rows)
    assert len(rows) == 12
    assert "no GPU here; the leaderboard goes by predicted times" in graded[1]


def test_the_page_shows_no_folder_and_no_tag_of_a_student(graded):
    page = (graded[0] / "leaderboard.html").read_text()
    assert "team-" not in page
    assert "&lt;b&gt;Fast &amp; bold&lt;/b&gt;" in page


def test_without_a_project_the_option_is_refused(tmp_path):
    book = (ROOT / "exercises" / "01_perceptron.ipynb").read_bytes()
    (tmp_path / "in" / "ann").mkdir(parents=True)
    (tmp_path / "in" / "ann" / "01_perceptron.ipynb").write_bytes(book)
    done = subprocess.run(
        [sys.executable, "-m", "course_lib", "grade", str(tmp_path / "in"), "-o", str(tmp_path / "out"),
         "--leaderboard"], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--leaderboard is for the project_convolution sheet" in done.stderr

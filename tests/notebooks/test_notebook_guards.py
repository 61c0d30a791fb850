"""Each guard passes the good lesson and catches what it is for."""

import base64

import nbformat.v4 as v4
import pytest
from notebook_lib import guards
from notebook_samples import broken

from course_lib.cli.clean import ROOT, WIDGET_VIEW

CODE = 2  # index of the first code cell of the sample; messages count from 1


def _stream(text, name="stdout"):
    return lambda nb: nb.cells[CODE].outputs.append(v4.new_output("stream", name=name, text=text))


def _html(html):
    return lambda nb: nb.cells[CODE].outputs.append(v4.new_output("display_data", {"text/html": html}))


def _big_png(nb):
    png = base64.b64encode(bytes(guards.IMAGE_LIMIT + 1)).decode()
    nb.cells[CODE].outputs.append(
        v4.new_output("display_data", {"text/html": f'<img src="data:image/png;base64,{png}">'})
    )


def _error(nb):
    nb.cells[CODE].outputs.append(v4.new_output("error", ename="E", evalue="bad", traceback=["E: bad"]))


def _no_counts(nb):
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.execution_count = None


DAMAGE = {
    "no counts": (guards.executed_in_order, _no_counts, "cell 3: execution count is None, must be 1"),
    "count skipped": (
        guards.executed_in_order,
        lambda nb: nb.cells[CODE].update(execution_count=7),
        "cell 3: execution count is 7, must be 1",
    ),
    "kernelspec": (
        guards.neutral_metadata,
        lambda nb: nb.metadata.kernelspec.update(name="conda-env"),
        "metadata.kernelspec",
    ),
    "python version": (
        guards.neutral_metadata,
        lambda nb: nb.metadata.language_info.update(version="3.11.7"),
        "metadata.language_info",
    ),
    "widget state": (guards.neutral_metadata, lambda nb: nb.metadata.update(widgets={}), "metadata.widgets"),
    "cell metadata": (
        guards.neutral_metadata,
        lambda nb: nb.cells[CODE].metadata.update(execution={}),
        "cell 3: metadata ['execution']",
    ),
    "widget view": (
        guards.no_widget_views,
        lambda nb: nb.cells[CODE].outputs.append(v4.new_output("display_data", {WIDGET_VIEW: {"model_id": "1"}})),
        "cell 3",
    ),
    "error": (guards.errors_are_meant, _error, "cell 3: shows E: bad"),
    "warning": (guards.stderr_is_clean, _stream("UserWarning: oh\n", "stderr"), "'UserWarning: oh'"),
    "home in source": (
        guards.no_machine_traces,
        lambda nb: nb.cells[0].update(source="see /home/ada/data"),
        "cell 1: the source names '/home/ada'",
    ),
    "path in output": (guards.no_machine_traces, _stream("read /tmp/x.npz"), "cell 3: the output names '/tmp/x.npz'"),
    "windows path": (guards.no_machine_traces, _stream(r"read C:\Users\ada"), "the output names"),
    "the repository": (guards.no_machine_traces, _stream(f"{ROOT}/course_lib"), str(ROOT)),
    "host": (guards.no_machine_traces, _stream("http://127.0.0.1:8888"), "127.0.0.1"),
    "remote image": (guards.no_remote_images, _html('<img alt="x" src="https://x.org/a.png">'), "https://x.org/a.png"),
    "remote markdown image": (
        guards.no_remote_images,
        lambda nb: nb.cells[0].update(source="![alt](https://x.org/a.png)"),
        "cell 1",
    ),
    "address": (guards.no_addresses, _stream("<object at 0x7f1234567890>"), "0x7f1234567890"),
    "large image": (guards.images_are_small, _big_png, "cell 3: an image of 100 KB"),
    "large notebook": (guards.notebook_is_small, _stream("x" * guards.NOTEBOOK_LIMIT), "cell 3: the heaviest"),
    "not a notebook": (guards.valid_format, lambda nb: nb.cells[1].update(cell_type="poem"), "not a valid notebook"),
    "id used twice": (guards.valid_format, lambda nb: nb.cells[1].update(id=nb.cells[0].id), "cell 2"),
}


@pytest.mark.parametrize("rule", guards.GUARDS, ids=lambda rule: rule.__name__)
def test_guard_passes_the_good_lesson(good_lesson, rule):
    assert rule(good_lesson) == []


@pytest.mark.parametrize("name", DAMAGE)
def test_guard_catches(good_lesson, name):
    rule, damage, message = DAMAGE[name]
    findings = rule(broken(good_lesson, damage))
    assert any(message in finding for finding in findings), findings
    assert rule in guards.GUARDS


def test_every_guard_is_tested():
    assert {rule for rule, _, _ in DAMAGE.values()} == set(guards.GUARDS)


@pytest.mark.parametrize("text", ["a link https://x.org/home/a/b", "~/course", "TCP/IP", "and/or", "</home>", "x:/y"])
def test_harmless_text_is_no_machine_trace(text):
    assert guards.machine_traces(text) == []


def test_tagged_cells_may_do_what_their_tag_says(good_lesson):
    def allowed(nb):
        for cell in nb.cells:
            if "nbval-ignore-output" in cell.metadata.get("tags", []):
                cell.outputs.append(v4.new_output("stream", name="stderr", text="0x7f1234567890"))

    assert guards.guard(broken(good_lesson, allowed)) == []

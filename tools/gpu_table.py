"""Write the README's table of GPU measurements from results/gpu.*.json, and the roofline plot on demand.

python tools/gpu_table.py                  write the table
python tools/gpu_table.py --check          fail where the README's table is not that of the results
python tools/gpu_table.py --plot FOLDER    draw the roofline of each card
python tools/gpu_table.py --against FILE   compare a new results/gpu.<card>.json, FILE, with the committed one of the
                                           same card, rung by rung; fail where one of ours is more than 5 % slower
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
README = ROOT / "README.md"
BEGIN, END = "<!-- gpu table: tools/gpu_table.py -->", "<!-- end of the gpu table -->"
NOTHING = "No card has been measured yet: `course bench gpu`."


def main():
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the README's table with the results")
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="write roofline.<card>.png there")
    parser.add_argument("--against", type=Path, metavar="FILE", help="fail where FILE has a rung that was faster")
    options = parser.parse_args()
    if options.against:
        return against(json.loads(options.against.read_text(encoding="utf-8")), results())
    if options.plot:
        return plot(options.plot)
    text = README.read_text(encoding="utf-8")
    wanted = with_table(text, table())
    if options.check:
        if text != wanted:
            print("README.md has another table than results/gpu.*.json: run python tools/gpu_table.py")
        return int(text != wanted)
    README.write_text(wanted, encoding="utf-8")
    return 0


def results():
    """Return what each results/gpu.*.json holds."""
    return [json.loads(p.read_text(encoding="utf-8")) for p in sorted((ROOT / "results").glob("gpu.*.json"))]


def table():
    """Return the tables of all cards that were measured, as Markdown."""
    from course_lib.bench.gpu.text import markdown

    return "\n\n".join(markdown(found) for found in results()) or NOTHING


def with_table(text, wanted):
    """Return the text with what stands between the two marks replaced; SystemExit without the marks."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise SystemExit(f"README.md needs one line {BEGIN} and, below it, one line {END}.")
    return f"{text[: text.index(BEGIN)]}{BEGIN}\n\n{wanted}\n\n{text[text.index(END) :]}"


SLOWER = 1.05
"""A rung may take so many times as long as before: what two runs differ by."""


def against(new, committed):
    """Print the ratio of times, new to committed, of everybody in both; return 1 if one of ours is slower, or lacks.

    SystemExit where the card was not measured before.
    """
    old = next((found for found in committed if found["machine"]["gpu"] == new["machine"]["gpu"]), None)
    if old is None:
        cards = ", ".join(found["machine"]["gpu"] for found in committed) or "none"
        raise SystemExit(f"{new['machine']['gpu']} was not measured before; there are {cards}.")
    print(f"{new['machine']['gpu']}: {new['date']} against {old['date']}")
    slower, rows = [], {row["case"]: row for row in new["rows"]}
    for row in old["rows"]:
        now = rows.get(row["case"], {"timings": {}})
        for name, before in row["timings"].items():
            after, ours = now["timings"].get(name), name not in row["rivals"]
            ratio = after["median"] / before["median"] if after else None
            wrong = ours and (ratio is None or ratio > SLOWER)
            slower += [f"{row['case']}, {name}"] if wrong else []
            shown = "not measured" if ratio is None else f"{ratio:.3f}"
            print(f"{row['case']:28} {name:24} {shown:>12}{'' if ours else '  rival'}{'  SLOWER' * wrong}")
        for name in now["timings"].keys() - row["timings"].keys():
            print(f"{row['case']:28} {name:24} {'new':>12}")
    print(f"{len(slower)} of ours slower by more than {SLOWER - 1:.0%}, or gone: {', '.join(slower) or 'none'}")
    return int(bool(slower))


def plot(folder):
    """Draw the roofline of each card."""
    from course_lib.bench.report import short_name
    from course_lib.figures.rooflines import roofline_plot

    folder.mkdir(parents=True, exist_ok=True)
    for found in results():
        path = folder / f"roofline.{short_name(found['machine']['gpu'])}.png"
        roofline_plot(found).savefig(path, dpi=96)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What NVIDIA's compiler said of kernels, kept for the tests: tests/gates/reports.json, tests/simt/by_numba_cuda.json.

python tools/kept_answers.py            compile what is not kept yet, and drop what nothing asks for
COURSE_KEPT=none python tools/...       compile everything, and stop where a kept answer is another
python tools/kept_answers.py --anew     compile everything, and forget what was kept

The environment is that of `make test`. No GPU is needed.
"""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def main():
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anew", action="store_true", help="forget what was kept, and compile everything")
    anew = parser.parse_args().anew
    os.environ |= {"COURSE_DEVICE": "simt", "COURSE_PROGRESS": "0"}
    from tests.gates.compiler import missing, use_compiler

    if reason := missing():
        raise SystemExit(reason)
    use_compiler()  # before anything imports Numba
    from tests.gates import compiler as gates
    from tests.kept import Kept
    from tests.simt import by_numba_cuda as words

    for file, answers in ((gates.REPORTS, gates.answers), (words.ANSWERS, words.answers)):
        kept = Kept(file)
        if anew:
            kept.answers.clear()
        before = len(kept.answers)
        for answer in answers(kept):
            if type(answer) is dict and answer["failure"]:
                raise SystemExit(f"{answer['entry']} for {answer['cc']}: {answer['failure']}\nNothing was written.")
            print(".", end="", flush=True)
        print(f"\n{file.relative_to(ROOT)}: {before} kept, {len(kept.missing)} new, {len(kept.superfluous())} dropped")
        kept.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())

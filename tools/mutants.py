"""Which mistakes the tests would notice: each is made in a copy of the repository, and its tests are run.

    python tools/mutants.py                  # all of them, a few minutes
    python tools/mutants.py pooling svg      # those whose file or text contains one of the words
    python tools/mutants.py --fast           # only the fast tests, those of `make check`

Run it before and after tests are merged or dropped: what died before must die afterwards. Source: R. A. DeMillo,
R. J. Lipton and F. G. Sayward, "Hints on Test Data Selection" (1978); the list is the course's own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

ROOT = Path(__file__).resolve().parents[1]

MUTANTS = (
    # file below course_lib, what is there once, what is put in its place, tests
    ("reference/activations.py", "np.where(z >= 0, 1 / (1 + e), e / (1 + e))", "1 / (1 + np.exp(-z))", "reference"),
    ("reference/activations.py", "return 1 - a * a", "return 1 - a", "reference"),
    ("reference/activations.py", "return (z >= 0).astype", "return (z > 0).astype", "reference"),
    ("reference/dense.py", "db = dz.sum(axis=0) if", "db = dz.mean(axis=0) if", "reference"),
    ("reference/losses.py", "/ (2 * len(a))", "/ (2 * a.size)", "reference"),
    ("reference/losses.py", "np.zeros_like(k)\n    dk[", "np.ones_like(k)\n    dk[", "reference"),
    ("reference/pooling.py", "first += before", "first += 1", "reference"),
    ("reference/pooling.py", "seen += dy  # a view", "seen[...] = dy  # a view", "reference"),
    ("reference/conv_sizes.py", "    return 1 + (size - mask + 2 * pad)", "    return 1 + (size - mask)", "reference"),
    ("reference/conv2d_windows.py", "np.flip(w, axis=tuple(range(2, 2 + n)))", "w", "reference"),
    ("reference/im2col.py", "image[:, :, rows, columns] += cols", "image[:, :, rows, columns] = cols", "reference"),
    ("reference/optim.py", "if momentum >= 1:", "if momentum > 1:", "reference"),
    ("reference/perceptron.py", "w + (y[i] - y_hat) * lr", "w + (y[i] - y_hat)", "reference"),
    ("reference/rbf.py", "return dy / len(dy)", "return dy", "reference"),
    ("fast/activations.py", "dz[i] = da[i] if z[i] > 0 else 0", "dz[i] = da[i] if z[i] >= 0 else 0", "fast"),
    ("fast/pooling.py", "(seen[i] != seen[i] and best[i] == best[i])", "False", "fast"),
    ("fast/pooling.py", "sums /= x.dtype.type(size[0] * size[1])", "sums /= x.dtype.type(size[0] ** 2)", "fast"),
    ("nn/graph.py", "lambda g, a, b: (g, -g)", "lambda g, a, b: (g, g)", "nn"),
    ("nn/graph.py", "(g * n * a ** (n - 1 if n else 0.0),)", "(g * n * a ** n,)", "nn"),
    ("nn/train.py", "order = rng.permutation(len(x))\n    for start", "order = np.arange(len(x))\n    for start", "nn"),
    ("nn/train.py", "return 1 if loss == ", "return 1 if loss != ", "nn"),
    ("nn/probing.py", "return lambda images: (1 - rate) * images", "return lambda images: images - rate", "nn"),
    ("nn/layers.py", 'self.ops.accumulate(self.grads["b"], db)', "pass", "nn"),
    ("cuda/optim.py", "v0 * momentum - lr * g0", "v0 - lr * g0", "cuda/test_optim.py"),
    ("cuda/adam.py", "beta2 * v0 + new2 * g0 * g0", "beta2 * v0 + new2 * g0", "cuda/test_adam.py"),
    ("cuda/dropout.py", "uint64(i) + uint64(1)", "uint64(i)", "cuda/test_ops_equal_reference.py"),
    ("reference/adam.py", "1 - beta**step for beta", "1.0 for beta", "reference/test_adam.py"),
    ("reference/dropout.py", "x.dtype.type(ALL / keep)", "x.dtype.type(1)", "reference/test_dropout.py"),
    ("reference/optim.py", "g + decay * p if decay else g", "g", "reference/test_adam.py"),
    ("fast/adam.py", "new2 * dw[i] * dw[i]", "new2 * dw[i]", "reference/test_adam.py"),
    ("fast/dropout.py", "before = seed + np.uint64(first) * _GAMMA", "before = seed", "reference/test_dropout.py"),
    ("nn/optimisers.py", 'if name.split(".")[-1] == "b" else', 'if name == "b" else', "nn/test_making_it_train.py"),
    ("nn/schedules.py", "else then(step - steps)", "else then(step)", "nn/test_making_it_train.py"),
    ("nn/dropout.py", "if not self.training:", "if False:", "nn/test_making_it_train.py"),
    ("data/standardise.py", "np.where(constant, 1.0, sd)", "sd", "nn/test_making_it_train.py"),
    ("cuda/sums.py", "cuda.syncthreads()  # everybody has read s", "pass  #", "cuda/test_sums.py"),
    ("cuda/losses.py", "number=cache.shape[0])", "number=cache.size)", "cuda/test_ops_equal_reference.py"),
    (
        "cuda/ladders/gemm/v03_smem_tiled.py",
        "cuda.syncthreads()  # nobody",
        "pass  # nobody",
        "cuda/test_gemm_ladder.py",
    ),
    (
        "cuda/ladders/conv2d/backward_data/v02_shared.py",
        "SOME = K_w // s_w, K_w % s_w",
        "SOME = K_w // s_w, 0",
        "cuda/test_conv2d_backward.py",
    ),
    ("cuda/array_checks.py", "    if not dtype.isnative:", "    if False:", "gpu/test_border.py"),
    (
        "simt/traffic.py",
        "if not known:\n                used[",
        "if True:\n                used[",
        "simt/test_core_counters.py",
    ),
    (
        "simt/races.py",
        "one_warp = (last - 1) >> WARP == (t - 1) >> WARP",
        "one_warp = False",
        "simt/test_hazards.py simt/test_correct.py",
    ),
    (
        "simt/arithmetic.py",
        "np.vectorize(_exact_fma, otypes=[np.float64])(a, b, c)",
        "a * b + c",
        "simt/test_every_word.py simt/test_core_values.py",
    ),
    (
        "simt/estimate/bound.py",
        "return max(self.times.values())",
        "return sum(self.times.values())",
        "simt/test_bound.py",
    ),
    ("cuda/columns.py", "total = float32(0)", "total = 0.0", "gates/test_gates.py"),
    (
        "simt/elements.py",
        "cast(value, np.dtype(np.int64))",
        "np.int64(np.rint(value))",
        "simt/test_words_taken_apart.py",
    ),
    ("simt/alone/exact.py", "a if math.isnan(b) or a <= b else b", "a if a <= b else b", "simt/test_alone.py"),
    ("simt/alone/exact.py", "return a - a if b == -1 else a % b", "return abs(a % b)", "simt/test_alone.py"),
    (
        "simt/arithmetic.py",
        "types.signature(what, result.dtype, value.dtype)[0]",
        "np.result_type(result.dtype, value.dtype)",
        "simt/test_types.py",
    ),
    ("nn/augment.py", "columns[:, None, :]", "columns[:, None, :] * 0", "nn"),
    ("nn/metrics.py", "np.mean(predicted == labels)", "np.mean(predicted != labels)", "nn"),
    ("nn/metrics.py", '"""Return the share of', 'f"""Return the share of', "test_docstrings.py"),
    ("checks/close.py", "good |= np.isinf(actual) & (actual == expected)", "good |= np.isinf(actual)", "checks"),
    ("checks/close.py", "if actual.size > 1 and not actual.any():", "if False:", "checks"),
    ("checks/tolerance.py", "4 * np.sqrt(a.shape[1])", "40 * np.sqrt(a.shape[1])", "checks"),
    ("checks/gradients.py", "x[i] = kept - eps", "x[i] = kept", "checks"),
    ("checks/judge.py", "if outcome.changed and reveal:", "if False:", "exercises/test_check.py"),
    ("checks/differences.py", "if value is None and expected is not None:", "if False:", "exercises/test_check.py"),
    (
        "grading/keys.py",
        "(hidden and not any(r.passed for r in hidden))",
        "False",
        "exercises/test_kill_table.py grading/test_host.py",
    ),
    ("grading/adjust.py", "math.ceil((late - self.grace)", "math.floor((late - self.grace)", "grading/test_adjust.py"),
    ("grading/similarity.py", "count >= threshold * fewer", "count > 0", "grading/test_similarity.py"),
    ("grading/final.py", "penalty = earned * off", "penalty = off", "grading/test_adjust.py grading/test_tables.py"),
    ("grading/store.py", '(result["student"], result["sheet"]) != (student, sheet)', "False", "grading/test_store.py"),
    ("grading/roster.py", "if id in students:\n            ", "if False:\n            ", "grading/test_submissions.py"),
    ("cli/folder.py", '(folder / "notebooks").is_dir() and', "", "cli/test_folder.py"),
    ("book/mathml.py", "    if left:", "    if False:", "book/test_mathml.py"),
    ("data/idx.py", 'dtype.newbyteorder("=")', "dtype", "data"),
    ("data/synthetic.py", "np.arange(inputs)[::-1]", "np.arange(inputs)", "data"),
    ("data/digits.py", "(counts != _PER_CLASS).any()", "False", "data"),
    ("figures/svg.py", "if length == 0:", "if False:", "figures/test_svg.py"),
    ("figures/picture.py", "if len(alt) < MIN_ALT:", "if False:", "figures/test_picture.py"),
    ("figures/style.py", "return (max(light) + 0.05)", "return (max(light) + 0.5)", "figures/test_style.py"),
    (
        "figures/convolution.py",
        "sums = (window * w).sum(axis=(1, 2))",
        "sums = window.sum(axis=(1, 2))",
        "figures/test_convolution.py",
    ),
)


def main(
    words: Annotated[list[str] | None, typer.Argument(help="Only mutants with one of these words.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Only the fast tests.")] = False,
) -> None:
    """Say of each mutant whether its tests notice it; exit status 1 if one lives on."""
    alive = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copy_tracked(copy)
        for mutant in MUTANTS:
            if words and not any(word in part for word in words for part in mutant[:3]):
                continue
            told = fate(copy, *mutant, fast)
            print(f"{told:40} {mutant[0]}: {' '.join(mutant[2].split())[:60]}", flush=True)
            alive += [mutant] if told.startswith("LIVES") else []
    print(f"{len(alive)} live on")
    raise typer.Exit(bool(alive))


def copy_tracked(copy: Path) -> None:
    """Copy what git tracks, as it is now; the compiler of the gates is linked."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    if (ROOT / "build" / "cuda-compiler").is_dir():
        (copy / "build").mkdir(exist_ok=True)
        (copy / "build" / "cuda-compiler").symlink_to(ROOT / "build" / "cuda-compiler")


def fate(copy: Path, file: str, old: str, new: str, tests: str, fast: bool) -> str:
    """Return what became of one mutant: "dies: <its first failure>" or "LIVES"."""
    path = copy / "course_lib" / file
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        return f"LIVES: its text is there {text.count(old)} times"
    path.write_text(text.replace(old, new), encoding="utf-8")
    places = [f"tests/{name}" for name in tests.split()]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *(["-m", "fast"] * fast), *places]
    # Byte code of the mutant would outlive it: two versions of one size may be written within a second.
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    finally:
        path.write_text(text, encoding="utf-8")
    if done.returncode == 0:
        return "LIVES"
    failed = next((line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "does not run")
    return "dies: " + failed.removeprefix("FAILED ").removeprefix("tests/").split(" - ")[0].replace("::test", " ")


if __name__ == "__main__":
    typer.run(main)

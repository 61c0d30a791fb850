"""Products by cuBLAS in every format, through PyTorch: how fast, how exact, and at which clock.

    float32, TF32, BF16, FP16    torch.matmul
    FP8                          torch._scaled_mm of E4M3 numbers; once more with `use_fast_accum`, whose sums have
                                 fewer bits

Operands are normal numbers, rounded. "error" is the largest one, as a share of the largest result, against the product
of the numbers before they were rounded; "error_of_sums" against that of the rounded ones. "MHz" and "watts" are
nvidia-smi's while the card does nothing else. Source: PyTorch, "torch.matmul"; NVIDIA, "cuBLAS", "FP8 data types".
"""

import subprocess

from course_lib.bench.gpu.timing import time_in_turns

BUSY = 0.7
"""Seconds of work that are enqueued while nvidia-smi looks."""

SIZES = (4096, 8192)


def library(tiny):
    """Yield rows of products of n x n x n; RuntimeError without PyTorch."""
    if tiny:
        yield {"n": 32, "format": "float32", "said": "a smoke test has no cuBLAS"}
        return
    import torch

    for n in SIZES:
        torch.manual_seed(n)
        A, B = (torch.randn(n, n, device="cuda") for _ in range(2))
        calls, rows = {}, {}
        for name, make in PRODUCTS.items():
            rows[name] = {"n": n, "format": name, "said": ""}
            try:
                call, a, b = make(torch, A, B)
                rows[name] |= _errors(call(), A, B, a, b)
                calls[name] = call
            except Exception as error:
                rows[name]["said"] = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
        for name, timing in time_in_turns(calls, rounds=20).items():
            rows[name] |= {"seconds": timing.median, "lower": timing.lower, "upper": timing.upper,
                           "rounds": timing.rounds, "tflops": 2 * n**3 / timing.median / 1e12}  # fmt: skip
            if n == SIZES[-1]:
                rows[name] |= _while_busy(torch, calls[name], timing.median)
        yield from rows.values()


def _errors(found, A, B, a, b):
    """Return the largest errors of `found` against A B, and against the rounded a b, and the format of its numbers."""
    found, kind = found.double(), str(found.dtype).removeprefix("torch.")
    errors = []
    for x, y in ((A, B), (a, b)):
        exact = x.double() @ y.double()
        errors.append(((found - exact).abs().max() / exact.abs().max()).item())
    return {"error": errors[0], "error_of_sums": errors[1], "result": kind}


def _float32(torch, A, B):
    return _matmul(torch, A, B, A, B)


def _matmul(torch, a, b, x, y, tf32=False):
    """Return (a call that multiplies a by b, and float32 of what it multiplies)."""

    def call():
        torch.backends.cuda.matmul.allow_tf32 = tf32
        try:
            return torch.matmul(a, b)
        finally:
            torch.backends.cuda.matmul.allow_tf32 = False

    return call, x, y


def _tf32(torch, A, B):
    def rounded(x):
        """cuBLAS rounds to the nearest, or cuts: to the nearest is assumed here."""
        return ((x.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32)

    return _matmul(torch, A, B, rounded(A), rounded(B), tf32=True)


def _half(kind):
    def make(torch, A, B):
        a, b = (x.to(getattr(torch, kind)) for x in (A, B))
        return _matmul(torch, a, b, a.float(), b.float())

    return make


def _fp8(fast):
    def make(torch, A, B):
        if not hasattr(torch, "_scaled_mm"):
            raise RuntimeError(f"PyTorch {torch.__version__} has no torch._scaled_mm")
        a = A.to(torch.float8_e4m3fn)
        b = B.t().contiguous().to(torch.float8_e4m3fn).t()  # column by column: the one layout that FP8 products have
        one = torch.ones((), device="cuda")

        def call():
            return torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=fast)

        return call, a.float(), b.float()

    return make


PRODUCTS = {
    "float32": _float32, "TF32": _tf32, "BF16": _half("bfloat16"), "FP16": _half("float16"), "FP8": _fp8(False),
    "FP8, fast sums": _fp8(True),
}  # fmt: skip


def fp8_sums(tiny):
    """Yield rows of a probe: 1 and 31 products of `one` each by FP8; "sum": what cuBLAS makes of it, less 1.

    RuntimeError without PyTorch.
    """
    if tiny:
        yield {"format": "FP8", "fast": False, "said": "a smoke test has no cuBLAS"}
        return
    import torch

    n, depth, one = 128, 32, torch.ones((), device="cuda")
    for fast in (False, True):
        for power in range(8, 18):
            row = {"format": "FP8", "fast": fast, "addends": depth - 1, "one": 2.0**-power, "said": ""}
            A = torch.full((n, depth), 2.0 ** -(power // 2), device="cuda")
            B = torch.full((n, depth), 2.0 ** -(power - power // 2), device="cuda")
            A[:, 0] = B[:, 0] = 1
            a, b = (x.to(torch.float8_e4m3fn) for x in (A, B))
            for kind in (torch.float32, torch.bfloat16):
                try:
                    found = torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=kind, use_fast_accum=fast)
                except Exception as error:
                    row["said"] = f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]
                    continue
                row |= {"sum": found[0, 0].item() - 1, "exact": (depth - 1) * 2.0**-power, "said": "",
                        "result": str(kind).removeprefix("torch.")}  # fmt: skip
                break
            yield row


def _while_busy(torch, call, seconds):
    """Return {"MHz", "watts"} as nvidia-smi says them in the middle of such calls; {} without it."""
    names = ("clocks.sm", "power.draw")
    line = ["nvidia-smi", "-i", "0", f"--query-gpu={','.join(names)}", "--format=csv,noheader,nounits"]
    for _ in range(max(1, min(900, round(BUSY / seconds)))):
        call()
    try:
        said = subprocess.run(line, capture_output=True, text=True, timeout=10, check=True).stdout
        return dict(zip(("MHz", "watts"), map(float, said.splitlines()[0].split(",")), strict=True))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return {}
    finally:
        torch.cuda.synchronize()

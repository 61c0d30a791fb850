"""Records in PyTorch the gradients of three graphs of lesson 05, which the lesson shows beside its own.

    python tools/record_torch.py --out results/gradients.torch.json

needs `torch` and nothing of the course: another implementation, by other people. The numbers that the graphs begin
with are typed here as they are in the lesson; `tests/lessons/test_05_computation_graph.py` compares both, and
`tests/torch_compare` records anew where PyTorch is installed.
"""

import argparse
import datetime
import json
import platform
from pathlib import Path

import torch

inputs = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
targets = [[0.0], [1.0], [1.0], [0.0]]
STARTS = {
    "W": [[1.0, -2.0, -1.0], [-1.0, 1.0, 1.0]],
    "b": [0.5, -0.5, 0.0],
    "V": [[1.0, 0.5, -1.0], [-0.5, 1.0, 0.5], [2.0, -1.0, 1.0]],
    "W2": [[2.0], [4.0], [-4.0]],
}
"""The network with a skip connection and a bias: its weights, by name."""


def diamond():
    """Return the gradients of (x w) (x + w) at x = 3, w = 2."""
    x, w = (torch.tensor(value, requires_grad=True) for value in (3.0, 2.0))
    ((x * w) * (x + w)).backward()
    return {"diamond, x": x.grad, "diamond, w": w.grad}


def heron():
    """Return the gradient of six rounds of Heron's loop, begun at 9."""
    x = torch.tensor(9.0, requires_grad=True)
    y = x
    for _ in range(6):
        y = 0.5 * (y + x / y)
    y.backward()
    return {"Heron, 6 rounds, x": x.grad}


def network():
    """Return the gradients of a network with a bias and a skip connection, on the four rows of XOR."""
    starts = STARTS.values()
    X, Y = torch.tensor(inputs), torch.tensor(targets)
    W, b, V, W2 = (torch.tensor(start, requires_grad=True) for start in starts)
    A = torch.sigmoid(X @ W + b)
    S = A + torch.sigmoid(A @ V)
    loss = 0.5 * (torch.sigmoid(S @ W2) - Y).square().sum()
    loss.backward()
    return {"network, W": W.grad, "network, b": b.grad, "network, V": V.grad, "network, W2": W2.grad}


def gradients():
    """Return {name: nested lists} of all three graphs, in float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return {name: grad.tolist() for graph in (diamond, heron, network) for name, grad in graph().items()}
    finally:
        torch.set_default_dtype(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    content = {
        "bench": "gradients",
        "date": datetime.date.today().isoformat(),
        "script": "tools/record_torch.py",
        "machine": {
            "cpu": platform.machine(),
            "versions": {"python": platform.python_version(), "torch": str(torch.__version__)},
        },
        "inputs": {"X": inputs, "Y": targets, **STARTS},
        "gradients": gradients(),
    }
    out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

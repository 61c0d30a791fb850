"""How long an answer takes while the same card trains: in the training's stream, in its own, in one that goes first.

Source: H, "Inference and training at once" (a phone tuned to its owner's voice).
"""

import time
from collections import deque

import numpy as np

from course_lib import gpu
from tools.steps.clock import row, summary
from tools.steps.step import Step, images, network

AHEAD = 3
"""Steps of training that wait in the queue at any time."""


def rows(tiny):
    """Yield one row: seconds until an answer is there, of each way; "percentiles" and steps a second beside it."""
    name, answers, batch, asked = ("tiny", 1, 2, 4) if tiny else ("LeNet-5", 8, 1024, 500)
    net = network(name)
    training = gpu.stream()
    step = Step(net, *images(name, batch))
    train = gpu.record(step)
    question = gpu.to_device(images(name, answers)[0])
    answer = gpu.record(lambda: net.forward(question))
    urgent = gpu.record(lambda: net.forward(question), priority=-5)
    asks = gpu.pinned(question.shape, question.dtype)
    asks[...] = images(name, answers)[0]
    gets = gpu.pinned(answer.result.shape, answer.result.dtype)
    ways = {
        "nothing else runs": (None, gpu.stream(), answer), "in the training's stream": (training, training, answer),
        "in a stream of its own": (training, gpu.stream(), answer),
        "in one that goes first": (training, gpu.stream(-5), answer),
        "recorded with priority, in one that goes first": (training, gpu.stream(-5), urgent),
    }  # fmt: skip
    timings, percentiles, rate, parts = {}, {}, {}, {}
    for way, (trains, answers_in, graph) in ways.items():
        found, rate[way], parts[way] = serve(
            train if trains else None, trains, graph, answers_in, question, asks, gets, asked
        )
        timings[way] = summary(found)
        percentiles[way] = {str(p): float(np.percentile(found, p)) for p in (50, 90, 99, 100)}
    words = f"{answers} images asked for, B = {batch:,} trained, {asked} times"
    yield row("answers while training", words, timings, percentiles=percentiles, steps_per_second=rate, ahead=AHEAD,
              parts=parts)  # fmt: skip


HOST = "copy in", "graph", "copy out", "wait"
"""What the host does for an answer: three calls, and it waits."""

CARD = "copy in", "forward pass", "copy out"
"""What the card does, between events in the answer's stream; the host's requests come in between."""


def serve(train, trains, answer, stream, question, asks, gets, count):
    """Return (seconds until each answer, steps of training a second, medians of its parts by either clock).

    Every second answer has events between its parts, which give the card's times; the others give the host's.
    """
    rng, waiting, done, found = np.random.default_rng(0), deque(), gpu.event(), []
    marks, host, card = [gpu.event() for _ in "012"], [], []
    begin, steps = time.perf_counter(), 0
    first = min(10, count)  # so many are not counted
    for k in range(count + first):
        until = time.perf_counter() + rng.uniform(0, 2e-3)
        while True:
            while waiting and waiting[0].query():
                waiting.popleft()
            while train is not None and len(waiting) < AHEAD:
                train(trains)
                waiting.append(gpu.event())
                waiting[-1].record(trains)
                steps += 1
            if time.perf_counter() >= until:
                break
        looks = k % 2
        asked = time.perf_counter()
        if looks:
            marks[0].record(stream)
        gpu.overwrite(question, asks, stream)
        copied = time.perf_counter()
        if looks:
            marks[1].record(stream)
        answer(stream)
        called = time.perf_counter()
        if looks:
            marks[2].record(stream)
        gpu.to_host(answer.result, stream, out=gets)
        fetched = time.perf_counter()
        done.record(stream)
        done.synchronize()
        there = time.perf_counter()
        if k < first:
            continue
        if looks:
            card.append([marks[i].elapsed_time(end) / 1000 for i, end in enumerate((marks[1], marks[2], done))])
        else:
            found.append(there - asked)
            host.append([copied - asked, called - copied, fetched - called, there - fetched])
    seconds = time.perf_counter() - begin
    gpu.synchronize()
    parts = {clock: dict(zip(names, np.median(each, axis=0).tolist(), strict=True))
             for clock, names, each in (("host", HOST, host), ("card", CARD, card))}  # fmt: skip
    return found, steps / seconds, parts

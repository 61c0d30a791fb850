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
    name, answers, batch, asked = ("tiny", 1, 2, 3) if tiny else ("LeNet-5", 8, 1024, 250)
    net = network(name)
    training = gpu.stream()
    step = Step(net, *images(name, batch))
    train = gpu.record(step)
    question = gpu.to_device(images(name, answers)[0])
    answer = gpu.record(lambda: net.forward(question))
    asks = gpu.pinned(question.shape, question.dtype)
    asks[...] = images(name, answers)[0]
    gets = gpu.pinned(answer.result.shape, answer.result.dtype)
    ways = {
        "nothing else runs": (None, gpu.stream()), "in the training's stream": (training, training),
        "in a stream of its own": (training, gpu.stream()), "in one that goes first": (training, gpu.stream(-5)),
    }  # fmt: skip
    timings, percentiles, rate = {}, {}, {}
    for way, (trains, answers_in) in ways.items():
        found, rate[way] = serve(train if trains else None, trains, answer, answers_in, question, asks, gets, asked)
        timings[way] = summary(found)
        percentiles[way] = {str(p): float(np.percentile(found, p)) for p in (50, 90, 99, 100)}
    words = f"{answers} images asked for, B = {batch:,} trained, {asked} times"
    yield row("answers while training", words, timings, percentiles=percentiles, steps_per_second=rate, ahead=AHEAD)


def serve(train, trains, answer, stream, question, asks, gets, count):
    """Return (seconds until each answer, steps of training a second)."""
    rng, waiting, done, found = np.random.default_rng(0), deque(), gpu.event(), []
    begin, steps = time.perf_counter(), 0
    for k in range(count + 10):  # the first ten are not counted
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
        asked = time.perf_counter()
        gpu.overwrite(question, asks, stream)
        answer(stream)
        gpu.to_host(answer.result, stream, out=gets)
        done.record(stream)
        done.synchronize()
        if k >= 10:
            found.append(time.perf_counter() - asked)
    seconds = time.perf_counter() - begin
    gpu.synchronize()
    return found, steps / seconds

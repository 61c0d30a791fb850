"""LeNet-5 learns the digits as well as promised: plain, with shifts, and in its classic form.

`pytest -s tests/nn/test_lenet5_digits.py` shows accuracies and seconds. Seconds are shown, never judged.
The recipes were chosen on a part of the training digits, not on the test digits; their promise is that of a schedule
short enough for every run of the tests. The plain one is trained five times by lesson 10, whose tests look at it.
"""

import time

import numpy as np
import pytest

from course_lib import data, nn

RECIPES = {
    # name: ((epochs, learning rate), ...), options of train, options of the model, least accuracy
    "shifts": (((16, 0.03), (4, 0.003)), {"augment": nn.random_shifts(2)}, {}, 0.965),
    "classic": (((8, 0.003),), {"loss": "rbf_loss"}, {"classic": True}, 0.94),
}


@pytest.fixture(scope="module")
def digits():
    digits = data.load_digits(seed=0)
    return digits, *(
        np.pad(digits.images(part)[:, None], ((0, 0), (0, 0), (2, 2), (2, 2))) for part in ("train", "test")
    )


@pytest.mark.parametrize("recipe", RECIPES)
def test_lenet5_learns_the_digits(recipe, digits):
    """Single runs scatter: rounding, which differs between processors, changes a long training, and with 1,000 test
    digits 0.3 % is the spread of equal networks."""
    digits, x_train, x_test = digits
    assert x_train.shape == (4000, 1, 32, 32)
    assert len(x_test) == 1000
    schedule, options, model, least = RECIPES[recipe]
    rng = np.random.default_rng(0)
    net, start = nn.models.lenet5(rng=rng, **model), time.perf_counter()
    for epochs, lr in schedule:
        settings = {"epochs": epochs, "batch_size": 64, "lr": lr, "momentum": 0.9, "progress": False, **options}
        nn.train(net, (x_train, digits.y_train), rng=rng, **settings)
    seconds, accuracy = time.perf_counter() - start, nn.accuracy(net.predict(x_test), digits.y_test)
    print(f"{recipe}: {accuracy:.1%} of the test digits, trained in {seconds:.1f} s")
    assert accuracy >= least

"""Kernels in Numba-CUDA: `from course_lib import cuda as ops` has every name of `course_lib.reference`, on the device.

Operations take and return float32 device arrays, and refuse host arrays: nothing is copied unless `gpu.to_device`,
`gpu.to_host`, or what says so in its docstring, is called. Lessons import `course_lib.gpu` for kernels of their own.
Everything that depends on a version of Numba stays in this package.

Importing it costs nothing and chooses no device: a module is loaded when one of its names is first used.
Source: Numba's documentation, "CUDA Python".
"""

import importlib as _importlib

_PARTS = {
    "activations": (
        "ACTIVATIONS", "heaviside", "heaviside_prime", "identity", "identity_backward", "identity_forward",
        "identity_prime", "leaky_relu", "leaky_relu_backward", "leaky_relu_forward", "leaky_relu_prime", "relu",
        "relu_backward", "relu_forward", "relu_prime", "scaled_tanh", "scaled_tanh_backward", "scaled_tanh_forward",
        "scaled_tanh_prime", "sigmoid", "sigmoid_backward", "sigmoid_forward", "sigmoid_prime", "softplus",
        "softplus_backward", "softplus_forward", "softplus_prime", "tanh", "tanh_backward", "tanh_forward",
        "tanh_prime",
    ),
    "adam": ("adam_plan", "adam_step", "adam_step_planned"),
    "arrays": (
        "accumulate", "assign", "copy_of", "fill_zero", "keep_where", "to_backend", "to_host", "zeros_like",
    ),
    "columns": ("col2im", "im2col"),
    "conv2d": ("conv2d_backward", "conv2d_forward"),
    "conv2d_fft": ("conv2d_fft_backward", "conv2d_fft_forward"),
    "conv_direct": (
        "conv1d_backward", "conv1d_forward", "conv2d_backward_loops", "conv2d_backward_windows",
        "conv2d_forward_loops", "conv2d_forward_windows", "conv3d_backward", "conv3d_forward",
    ),
    "dense": ("dense_backward", "dense_forward"),
    "dropout": ("dropout_backward", "dropout_forward"),
    "linear_regression": ("linear_regression_descend", "linear_regression_fit", "linear_regression_predict"),
    "losses": (
        "LOSSES", "expected_squared_distance_backward", "expected_squared_distance_forward",
        "half_squared_sum_backward", "half_squared_sum_forward", "one_minus_probability_backward",
        "one_minus_probability_forward", "quadratic_cost_backward", "quadratic_cost_forward",
        "softmax_cross_entropy_backward", "softmax_cross_entropy_forward", "softmax_cross_entropy_sums",
    ),
    "optim": ("sgd_step", "sgd_step_planned"),
    "perceptron": ("add_bias_input", "perceptron_fit", "perceptron_predict"),
    "pooling": (
        "average_pool_backward", "average_pool_forward", "flatten_backward", "flatten_forward", "max_pool_backward",
        "max_pool_forward", "subsample_backward", "subsample_forward",
    ),
    "precision": ("all_finite", "round_to", "scale_by"),
    "probabilities": ("softmax", "softmax_backward", "softmax_forward", "softmax_jacobian"),
    "recorded_steps": ("RecordedSteps",),
    "rbf": ("rbf_backward", "rbf_forward", "rbf_loss_backward", "rbf_loss_forward"),
    "step_log": ("StepLog",),
}  # fmt: skip
"""Module -> the operations in it."""

_ON_THE_HOST = ("PerceptronFit", "PerceptronStep", "digit_prototypes", "output_size", "replication", "unseen")
"""The reference's own: records, a table, and arithmetic of sizes, which touch no array of a device."""

_HOME = {name: f"course_lib.cuda.{part}" for part, names in _PARTS.items() for name in names}
_HOME |= dict.fromkeys(_ON_THE_HOST, "course_lib.reference")

__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})

"""The lectures' formulas in NumPy, one function each: `from course_lib import reference as ops`.

A backend is a module. Another backend exports the same names; code that is written against `ops`
runs on either.
"""

import types as _types

from course_lib.reference.activations import (
    ACTIVATIONS,
    heaviside,
    heaviside_prime,
    identity,
    identity_backward,
    identity_forward,
    identity_prime,
    leaky_relu,
    leaky_relu_backward,
    leaky_relu_forward,
    leaky_relu_prime,
    relu,
    relu_backward,
    relu_forward,
    relu_prime,
    scaled_tanh,
    scaled_tanh_backward,
    scaled_tanh_forward,
    scaled_tanh_prime,
    sigmoid,
    sigmoid_backward,
    sigmoid_forward,
    sigmoid_prime,
    softplus,
    softplus_backward,
    softplus_forward,
    softplus_prime,
    tanh,
    tanh_backward,
    tanh_forward,
    tanh_prime,
)
from course_lib.reference.adam import adam_step
from course_lib.reference.arrays import (
    accumulate,
    assign,
    copy_of,
    fill_zero,
    keep_where,
    to_backend,
    to_host,
    zeros_like,
)
from course_lib.reference.conv2d import conv2d_backward, conv2d_forward
from course_lib.reference.conv2d_fft import conv2d_fft_backward, conv2d_fft_forward
from course_lib.reference.conv2d_loops import conv2d_backward_loops, conv2d_forward_loops
from course_lib.reference.conv2d_windows import (
    conv1d_backward,
    conv1d_forward,
    conv2d_backward_windows,
    conv2d_forward_windows,
    conv3d_backward,
    conv3d_forward,
)
from course_lib.reference.conv_sizes import output_size, unseen
from course_lib.reference.dense import dense_backward, dense_forward
from course_lib.reference.dropout import dropout_backward, dropout_forward
from course_lib.reference.formats import round_to
from course_lib.reference.im2col import col2im, im2col, replication
from course_lib.reference.linear_regression import (
    linear_regression_descend,
    linear_regression_fit,
    linear_regression_predict,
)
from course_lib.reference.losses import (
    LOSSES,
    expected_squared_distance_backward,
    expected_squared_distance_forward,
    half_squared_sum_backward,
    half_squared_sum_forward,
    one_minus_probability_backward,
    one_minus_probability_forward,
    quadratic_cost_backward,
    quadratic_cost_forward,
    softmax_cross_entropy_backward,
    softmax_cross_entropy_forward,
)
from course_lib.reference.optim import sgd_step
from course_lib.reference.perceptron import (
    PerceptronFit,
    PerceptronStep,
    add_bias_input,
    perceptron_fit,
    perceptron_predict,
)
from course_lib.reference.pooling import (
    average_pool_backward,
    average_pool_forward,
    flatten_backward,
    flatten_forward,
    max_pool_backward,
    max_pool_forward,
    subsample_backward,
    subsample_forward,
)
from course_lib.reference.precision import all_finite, scale_by
from course_lib.reference.probabilities import softmax, softmax_backward, softmax_forward, softmax_jacobian
from course_lib.reference.rbf import digit_prototypes, rbf_backward, rbf_forward, rbf_loss_backward, rbf_loss_forward
from course_lib.reference.winograd import conv2d_winograd_backward, conv2d_winograd_forward

__all__ = sorted(n for n, v in globals().items() if not n.startswith("_") and not isinstance(v, _types.ModuleType))

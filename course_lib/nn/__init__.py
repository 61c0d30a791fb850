"""A small neural-network library: specify, run forward and backward, train, test, save.

Source: K, "Building a DL Library". Written against `ops`, a backend that is a module.
"""

from course_lib.nn import graph, init, models, pruning, schedules
from course_lib.nn.augment import random_shifts
from course_lib.nn.checkpoint import CheckpointError
from course_lib.nn.conv_layers import AveragePool, Conv2d, Flatten, MaxPool, RadialBasis, Subsample
from course_lib.nn.dropout import Dropout
from course_lib.nn.evidence import class_scores, occlusion, promised_fall, saliency
from course_lib.nn.layers import (
    Activation,
    Dense,
    Layer,
    LeakyReLU,
    ReLU,
    ScaledTanh,
    Sigmoid,
    Softmax,
    Softplus,
    Tanh,
)
from course_lib.nn.metrics import Evaluation, Mistakes, accuracy, confusion_matrix, neighbour_accuracy, worst_mistakes
from course_lib.nn.optimisers import SGD, Adam, Optimiser, load_optimiser, save_optimiser
from course_lib.nn.precision import LossScale, rounded
from course_lib.nn.probing import Ascent, blur, decay, feature_maps, input_gradient, maximise
from course_lib.nn.sequential import LayerCost, Sequential
from course_lib.nn.train import History, evaluate, train
from course_lib.nn.weights import WeightsError, load_weights, save_weights
from course_lib.validate import NotFiniteError

__all__ = [
    "SGD",
    "Activation",
    "Adam",
    "Ascent",
    "AveragePool",
    "CheckpointError",
    "Conv2d",
    "Dense",
    "Dropout",
    "Evaluation",
    "Flatten",
    "History",
    "Layer",
    "LayerCost",
    "LeakyReLU",
    "LossScale",
    "MaxPool",
    "Mistakes",
    "NotFiniteError",
    "Optimiser",
    "RadialBasis",
    "ReLU",
    "ScaledTanh",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Subsample",
    "Tanh",
    "WeightsError",
    "accuracy",
    "blur",
    "class_scores",
    "confusion_matrix",
    "decay",
    "evaluate",
    "feature_maps",
    "graph",
    "init",
    "input_gradient",
    "load_optimiser",
    "load_weights",
    "maximise",
    "models",
    "neighbour_accuracy",
    "occlusion",
    "promised_fall",
    "pruning",
    "random_shifts",
    "rounded",
    "saliency",
    "save_optimiser",
    "save_weights",
    "schedules",
    "train",
    "worst_mistakes",
]

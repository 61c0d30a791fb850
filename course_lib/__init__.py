"""From one perceptron to GPU kernels: the library that the course's notebooks call."""

__version__ = "0.1.0"

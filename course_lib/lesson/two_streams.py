"""AlexNet's layers, their weights, and what crosses between its two streams: lesson 18's count.

Source: A. Krizhevsky, I. Sutskever and G. Hinton (2012), "ImageNet Classification with Deep Convolutional Neural
Networks", 3.2, 3.5 and figure 2.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class StreamLayer:
    """A layer that is cut in two.

    Attributes
    ----------
    name : str
    maps : int
        Output maps or neurons of both halves together.
    side : int
        Of an output map, after pooling; 1 in dense layers.
    inputs : int
        Numbers that one output number is a sum of.
    crosses : int
        Numbers of an image that each half needs from the other one: 0 where it looks at its own maps only.

    Source: Krizhevsky, Sutskever and Hinton (2012), 3.5.
    """

    name: str
    maps: int
    side: int
    inputs: int
    crosses: int

    @property
    def parameters(self):
        """Weights and biases of both halves."""
        return self.maps * (self.inputs + 1)


def alexnet():
    """Return AlexNet's layers, a tuple of `StreamLayer`. No errors.

    Layer 3 and the dense ones take all maps of the layer before, layers 2, 4 and 5 those of their own half.
    Source: Krizhevsky, Sutskever and Hinton (2012), 3.5.
    """
    masks = (  # name, output maps, side after pooling, mask's side, whether it takes both halves' maps
        ("1, convolution", 96, 27, 11, False),
        ("2, convolution", 256, 13, 5, False),
        ("3, convolution", 384, 13, 3, True),
        ("4, convolution", 384, 13, 3, False),
        ("5, convolution", 256, 6, 3, False),
    )
    dense = (("6, dense", 4096), ("7, dense", 4096), ("8, dense", 1000))
    layers, before, side = [], 3, 224
    for place, (name, maps, after, mask, both) in enumerate(masks):
        taken = before if both or place == 0 else before // 2  # both halves look at the whole image
        layers.append(StreamLayer(name, maps, after, taken * mask**2, before // 2 * side**2 if both else 0))
        before, side = maps, after
    before *= side**2
    for name, neurons in dense:
        layers.append(StreamLayer(name, neurons, 1, before, before // 2))
        before = neurons
    return tuple(layers)

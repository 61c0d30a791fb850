"""The convolution ladders: forward, and the gradients for the input and for the masks.

Each of the packages `forward`, `backward_data` and `backward_weights` has its own `LADDER`. Convolution here does not
flip the mask, as in every deep-learning library. Source: H, "Application Case Study: Deep Learning".
"""

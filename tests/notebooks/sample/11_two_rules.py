# ---
# jupyter:
#   course_form: 2
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 11 · Two rules for a layer
#
# A small lesson in the form that every lesson has. A dense layer on an image learns millions of numbers, and most
# people believe that it needs them.

# %% tags=["hide-input"]
# A picture.
import numpy as np

from course_lib import figures
from course_lib.lesson import predict, table

drawing = figures.Svg(320, 90)
drawing.matrix(np.arange(3.0)[None], 20, 20, name="w", role="weight")
figures.picture(
    drawing,
    alt="Three weights in a row, the whole mask of a small convolution",
    caption="A convolution may have as few as three weights.",
)

# %% [markdown]
# ## You will be able to
#
# - count the weights of a dense layer,
# - count the weights of a convolution.
#
# <details><summary>About this page</summary>
#
# It takes 5 minutes. **Hwu** is lecture 10 of ECE 508 by Prof. Hwu and colleagues at Illinois.
#
# </details>

# %% [markdown]
# ## As many weights as pixels
#
# A dense layer has one weight for each pair of an input and an output.[^Hwu "Fully Connected Layers Not Always
# Useful"] An image of 250 × 250 pixels goes in, and as many numbers come out.

# %% tags=["hide-input"]
# A prediction.
pixels = 250 * 250
choices = [62_500, "a hundred million", 3_906_250_000]
weights = predict("How many weights has the layer?", choices, answer=3_906_250_000, reveals=2)
weights

# %% tags=["hide-output"]
weights.confirm(pixels**2)
table([("dense", pixels**2), ("shared", 5 * 5)], ["layer", "weights"], caption="Weights for one image")

# %% [markdown]
# <details class="reveal"><summary>Why so many</summary>
#
# Each of the 62,500 outputs looks at each of the 62,500 pixels, and $62500^2$ is about 3.9 billion.
#
# </details>

# %% [markdown]
# ## Fewer by two rules
#
# Look at few pixels, and use the same weights everywhere.[^Hwu "Differences Between CNN and Traditional Network"] The
# number of weights then no longer depends on the image.[^Hwu "Fully Connected Layers Not Always Useful"] Threads of a
# block share memory in much the same spirit.[^NVIDIA "CUDA C++ Programming Guide, Thread Hierarchy"]

# %% tags=["hide-input"]
# A prediction.
choices = ["one in a thousand", "fewer than one in a million"]
share = predict("Which share of the weights is left?", choices, answer="fewer than one in a million")
share

# %% tags=["hide-output"]
left = 5 * 5 / pixels**2
left

# %% tags=["hide-input"]
# Is it so?
assert 0 < left < 1e-6
share.confirm("fewer than one in a million" if left < 1e-6 else "one in a thousand")

# %% [markdown]
# ## Try it
#
# What is left of a mask of 3 × 3?
#
# <details><summary>Answer</summary>
#
# Nine weights, for an image of any size.
#
# </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# The slide of Hwu counts no biases, and neither does this page.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** How many weights has a dense layer from 4 to 3 numbers?
#
# <details><summary>Answer</summary>
#
# Twelve.
#
# </details>
#
# **2.** And a convolution with a mask of 2 × 2?
#
# <details><summary>Answer</summary>
#
# Four.
#
# </details>
#
# **3.** Which of the two numbers changes with the image?
#
# <details><summary>Answer</summary>
#
# The first.
#
# </details>

# ---
# jupyter:
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
# # 08 · The layers of a convolutional network, backward
#
# Lesson 07 ran a convolution forward. Many students expect its backward pass to be something else again, with rules of
# its own. On this page it is computed in three ways that look nothing alike, and all three turn out to be the rule
# that you know from lesson 04.
#
# **K** is Prof. Dey's lecture 56 at IIT Kharagpur with its slides, **O** is Prof. Owens' EEC 289Q lecture 11 at UC
# Davis, **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois. A note such as (H, "Calculating dE/dX")
# names the lecture and the slide; elsewhere K and H are sizes. The page takes about 45 minutes, the optional parts 8
# more.

# %% [markdown]
# ## You will be able to
#
# - run max pooling, average pooling and the leaky ReLU forward and backward by hand;
# - compute $\partial E/\partial W$ and $\partial E/\partial X$ of a convolution by loops, as convolutions and as matrix
#   products;
# - say what unrolling an image costs, and what a matrix product gives back for it;
# - choose test data on which a mistake cannot hide.

# %% [markdown]
# ## Why
#
# A network learns only if every layer can answer one question (H, "Overview of Gradient Back-Propagation"): given
# $\partial E/\partial Y$, how does the error $E$ change with my weights, and how with my input? The first answer
# trains the layer, the second is the $\partial E/\partial Y$ of the layer before.
#
# In code `dy` is $\partial E/\partial Y$, `dx` is $\partial E/\partial X$, `dw` is $\partial E/\partial W$, each in
# the shape of its array. We begin with the layers that have no weights.

# %%
import numpy as np

from course_lib import checks, figures
from course_lib import reference as ops

rng = np.random.default_rng(8)

# %% [markdown]
# ## ReLU with a slope
#
# The slides' ReLU has a second branch (K, "RELU Activation Function"): where the input is not positive, it returns the
# input times a **negative slope**, a small number chosen once. With slope 0 it is the plain ReLU of lesson 02.
# Backward, each element multiplies its `dy` by the slope of its own branch.

# %%
z = np.array([-2.0, -0.5, 0.0, 3.0])
a, cache = ops.leaky_relu_forward(z, 0.1)
print("forward ", a)
print("backward", ops.leaky_relu_backward(np.array([10.0, 10.0, 10.0, 10.0]), cache))

# %% [markdown]
# A plain ReLU would stop the first three gradients. The slope lets a tenth through, so a neuron whose sum is negative
# for every sample can still learn.
#
# ## Max pooling
#
# **Pooling** puts one number in the place of a whole window of $F \times F$ pixels (F is the slides' letter): its
# largest value in **max pooling**, its mean in **average pooling**. Nothing is trained, and each map is treated on its
# own (K, "Pooling Layer"). Windows move by the stride $S$, and the sizes are those of a convolution without padding (K,
# "Pooling Layer: Spatial Transformations"), rounded down:
#
# $$H_{out} = 1 + \left\lfloor \frac{H - F}{S} \right\rfloor, \qquad (B, C, H, W) \to (B, C, H_{out}, W_{out})$$

# %%
for H, F, S in ((4, 2, 2), (28, 2, 2), (5, 2, 2), (5, 3, 2)):
    print(f"H={H}, F={F}, S={S}: H_out={ops.output_size(H, F, S)}, rows never seen: {ops.unseen(H, F, S)}")

# %% [markdown]
# Here are the first two rows of an example (O, "Max-Pooling"), $F = S = 2$. The backward pass must know *which* pixel
# won. So the forward pass keeps the **argmax mask**, which holds no weights: for each output, the place of the winner,
# counted row by row through the map (K, "Pooling Kernel").
#
# (`four[None, None]` puts two axes of length 1 in front: one image, one map.)

# %%
four = np.array([[1.0, 0, 2, 2],
                 [1.0, 3, 0, 1]])
y, cache = ops.max_pool_forward(four[None, None], 2)
shape, place = cache
print("y", y[0, 0], "place", place[0, 0])

# %% [markdown]
# Place 5 is row 1, column 1, since $5 = 1 \cdot 4 + 1$. The second window holds 2 twice. The slide's kernel
# asks `> maxval`, not `>=`, so the first of equal values wins: place 2.
#
# **Predict first.** `dy` holds 5 and 7. What is `dx` at the winners, at the second 2, and at the others?

# %%
dy_pool = np.array([[5.0, 7.0]])
dx = ops.max_pool_backward(dy_pool[None, None], cache)[0, 0]
print(dx)
figures.show(
    figures.cnn_layers.pooling_routes(four, dy_pool),
    alt=f"The winners at places {place.ravel()} receive {dy_pool.ravel()}; every other dx is 0.",
    caption="The thick line parts the two windows. Forward keeps each winner and its place; "
    "backward, dy gives the amount and place says where it goes.",
)

# %% [markdown]
# The winners get 5 and 7. Nudge a smaller value a little and the maximum stays the same: no effect, no gradient. The
# second 2 gets 0 as well, by choice: a tie is a kink, as ReLU's at 0, and either 2 could have had the 7, but one only.
#
# Averaging has no winner: each of the $F^2$ pixels moved the mean by a share $1/F^2$, so each gets `dy` / $F^2$. And
# if windows overlap, a pixel stands in several, and their effects add, as roads did in lesson 04:

# %%
y, cache = ops.average_pool_forward(four[None, None], 2)
print("average", y[0, 0], "backward:")
print(ops.average_pool_backward(dy_pool[None, None], cache)[0, 0])
y, cache = ops.max_pool_forward(four[None, None], 2, stride=1)
print("max, stride 1", y[0, 0], "backward, dy all 1:")
print(ops.max_pool_backward(np.ones((1, 1, 1, 3)), cache)[0, 0])

# %% [markdown]
# With stride 1 the 3 wins two windows and receives two gradients. Lesson 04's check compares all of these with
# measured slopes, on random inputs and a random upstream gradient. It raises if one is wrong.

# %%
x_random = rng.standard_normal((2, 3, 7, 6))
checks.check_op_gradients(ops.leaky_relu_forward, ops.leaky_relu_backward, [x_random], rng=rng)
checks.check_op_gradients(ops.max_pool_forward, ops.max_pool_backward, [x_random], rng=rng)
checks.check_op_gradients(ops.average_pool_forward, ops.average_pool_backward, [x_random], rng=rng)
print("three gradients right, for x", x_random.shape)

# %% [markdown]
# ## A convolution small enough for a pencil
#
# One image, one map, stride 1, no padding. The input is the map $X[1]$ on the slides about gradients (H, "A Small
# Convolution Layer Example, Generating dE/dW"); the mask and `dy` are this course's own. `w` has four different
# numbers, so that each can be recognised. $y$ is $(3, 3)$, so `dy` is $(3, 3)$ too.

# %%
x = np.array([[0.0, 2, 1, 0], [0, 3, 2, 1], [1, 1, 0, 2], [2, 1, 0, 3]])
w = np.array([[1.0, 2], [3, 4]])
dy = np.array([[2.0, 3, 4], [3, 3, 3], [5, 1, 1]])
y, cache = ops.conv2d_forward(x[None, None], w[None, None])
print(y[0, 0])

# %% [markdown]
# ### One weight
#
# $w_{00}$ is used once in every output: in $y_{00}$ with $x_{00}$, in $y_{01}$ with $x_{01}$, and so on. Nine
# roads lead from it to $E$. Each contributes $\partial E/\partial y$ times the pixel that the weight met, and roads
# add (H, "Back-propagation for a convolutional layer"):
#
# $$\frac{\partial E}{\partial w_{pq}} = \sum_{h,v} \frac{\partial E}{\partial y_{hv}}\; x_{h+p,\,v+q}$$
#
# For $w_{00}$, row after row of `dy`: $(2\cdot0 + 3\cdot2 + 4\cdot1) + (3\cdot0 + 3\cdot3 + 3\cdot2) + (5\cdot1 +
# 1\cdot1 + 1\cdot0) = 31$. For $w_{01}$ the same nine `dy` meet the pixels one column further right. In other words:
# **`dy` slides over `x` like a mask.** Step through the four weights.

# %%
figures.cnn_layers.weight_gradient_stepper(x, dy)

# %% [markdown]
# So $\partial E/\partial W$ is a convolution of `x` with `dy`, $(4,4)$ with $(3,3) \to (2,2)$, done with lesson 07's
# own function. (A bias is added once to every output, so $\partial E/\partial b$ is the sum of `dy`, over all images
# too.)

# %%
dw = ops.conv2d_forward(x[None, None], dy[None, None])[0][0, 0]
print(dw, "db", dy.sum())

# %% [markdown]
# ### One pixel
#
# Now $x_{11}$, in the middle. It was seen by four windows, and in each it met another weight: in $y_{11}$ it stood at
# the top left and met $w_{00}$, in $y_{10}$ it met $w_{01}$, in $y_{01}$ it met $w_{10}$, in $y_{00}$ it met $w_{11}$
# (H, "Example"). Four roads:
#
# $$\frac{\partial E}{\partial x_{hv}} = \sum_{p,q} \frac{\partial E}{\partial y_{h-p,\,v-q}}\; w_{pq}$$
#
# Mind the signs: with $h - p$ on one side and $p$ on the other, the later weight meets the *earlier* output. Where
# $y_{h-p,v-q}$ does not exist, the term is left out; the slide's formula does not say so.

# %%
pixel = dy[1, 1] * w[0, 0] + dy[1, 0] * w[0, 1] + dy[0, 1] * w[1, 0] + dy[0, 0] * w[1, 1]
print("dE/dx[1,1] =", pixel, "  dE/dx[0,0] =", dy[0, 0] * w[0, 0])

# %% [markdown]
# ## The loops
#
# The forward pass is full of products $x \cdot w$ that are added to a $y$. For each of them, the backward pass sends
# `dy * w` to the pixel and `dy * x` to the weight. That is the whole rule, and it needs no case for the border (H,
# "Calculating dE/dX", "Calculating ∂E/∂W"):

# %%
def backward_loops(dy, x, w):
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for h, v in np.ndindex(dy.shape):      # every output
        for p, q in np.ndindex(w.shape):   # every product in it
            dx[h + p, v + q] += dy[h, v] * w[p, q]
            dw[p, q] += dy[h, v] * x[h + p, v + q]
    return dx, dw

dx, dw_loops = backward_loops(dy, x, w)
print(dx)
assert dx[1, 1] == pixel
assert np.array_equal(dw_loops, dw)

# %% [markdown]
# (`np.ndindex(3, 3)` counts through all pairs of indices.) The loops **scatter**: each output throws its gradient at
# the four pixels that it saw. The library has the same for batches, maps, strides and padding
# ([`course_lib/reference/conv2d_loops.py`](../course_lib/reference/conv2d_loops.py)).
#
# ## dE/dX as a convolution
#
# Turn the question around: instead of scattering from each output, **gather** for each pixel. First in one direction,
# with a mask of three, $y_0 = x_0 w_0 + x_1 w_1 + x_2 w_2$, $y_1 = x_1 w_0 + \dots$. Pixel $x_2$ is the last one in the
# window of $y_0$, the middle one for $y_1$, the first for $y_2$:
#
# $$\frac{\partial E}{\partial x_2} = \frac{\partial E}{\partial y_0} w_2 + \frac{\partial E}{\partial y_1} w_1 +
# \frac{\partial E}{\partial y_2} w_0$$
#
# Along `dy` from left to right, the weights come from right to left. So it is a convolution of `dy` with the
# **flipped** mask $(w_2, w_1, w_0)$. In two directions rows and columns are reversed, a turn by 180 degrees:
# `w[::-1, ::-1]`. (This is what mathematicians call convolution, as lesson 07 said.)
#
# The result has to grow from $(3,3)$ to $(4,4)$. So `dy` gets a border of $K - 1$ zeros; a convolution that is padded
# until the mask touches the image with one corner only is called a **full convolution**. The zeros are the
# outputs that do not exist.

# %%
figures.cnn_layers.full_convolution_stepper(dy, w)

# %% [markdown]
# Step through it. The dashed cells are the border. At the corner one product lies on `dy`, at an edge two, inside
# four: as many as windows saw that pixel. In code it is one line again:

# %%
full = ops.conv2d_forward(dy[None, None], w[None, None, ::-1, ::-1], pad=1)[0][0, 0]
checks.check_close(full, dx, rtol=1e-12)
print(full.shape, "largest difference", np.abs(full - dx).max())

# %% [markdown]
# With several maps, every output map that used $x$ sends a share, so the shares are added over $m$, while
# $\partial E/\partial W$ is added over the images $n$. The maps change sides: $M$ come in, $C$ go out.
#
# $$\frac{\partial E}{\partial X_{n,c,h,v}} =
# \sum_{m,\,p,\,q} \frac{\partial E}{\partial Y_{n,m,h-p,v-q}}\; W_{m,c,p,q}$$
#
# $$\frac{\partial E}{\partial W_{m,c,p,q}} =
# \sum_{n,\,h,\,v} \frac{\partial E}{\partial Y_{n,m,h,v}}\; X_{n,c,h+p,v+q}$$
#
# Shapes: $Y$ is $(B, M, H_{out}, W_{out})$, $W$ is $(M, C, K, K)$, $X$ is $(B, C, H, W)$.

# %% [markdown]
# ## Unrolling: the layer as one matrix product
#
# A third way. Copy each window of `x` into a column of a matrix: this is **unrolling**, or **im2col** (K, "Im2Col
# Operation"; H, "Reorganize Input X for Matrix Multiplication"). Write each output map's masks as a row. Then a
# convolution is a matrix product:
#
# $$Y = W_{rows}\, X_{cols} \qquad (M,\; C K^2)\,(C K^2,\; H_{out} W_{out}) \to (M,\; H_{out} W_{out})$$
#
# Colour and the index in brackets say which pixel a number came from; the copies of one pixel are framed. Each column
# holds what one output sees; each row, what one weight meets. In JupyterLab, move the sliders to another pixel.

# %%
figures.explore(
    lambda row, column: figures.cnn_layers.unrolled_picture(x, (2, 2), (row, column)),
    title="Where do the copies of a pixel stand?", row=(0, 3, 1, 1), column=(0, 3, 1, 1),
)

# %% [markdown]
# No pixel stands twice in one column or in one row: an output sees it once, and a weight meets it once. (`reshape(1,
# -1)` makes one row; -1 means "as many as there are".)

# %%
cols = ops.im2col(x[None, None], 2)[0]
w_rows, dy_rows = w.reshape(1, -1), dy.reshape(1, -1)
assert np.array_equal(w_rows @ cols, y.reshape(1, -1))
print("cols", cols.shape, " w_rows", w_rows.shape, " dy_rows", dy_rows.shape)

# %% [markdown]
# Now the backward pass is lesson 04's. There the samples were rows and the weights stood on the right, $Z = XW$; here
# the weights stand on the left, so every product is the other way round:
#
# $$\frac{\partial E}{\partial W_{rows}} = \frac{\partial E}{\partial Y} X_{cols}^T \quad (M, P)(P, CK^2), \qquad
# \frac{\partial E}{\partial X_{cols}} = W_{rows}^T \frac{\partial E}{\partial Y} \quad (CK^2, M)(M, P)$$
#
# with $P = H_{out} W_{out}$, for one image; over a batch the first is added up. Only the copying is new. The backward
# of "copy a pixel to several places" is "add up what comes back from those places": **col2im**.

# %%
dw_product = (dy_rows @ cols.T).reshape(2, 2)  # (1, 9) (9, 4) -> (1, 4)
dcols = w_rows.T @ dy_rows                     # (4, 1) (1, 9) -> (4, 9)
dx_product = ops.col2im(dcols[None], (1, 1, 4, 4), 2)[0, 0]
checks.check_close(dw_product, dw, rtol=1e-12)
checks.check_close(dx_product, dx, rtol=1e-12)
print(dx_product)

# %% [markdown]
# The same again. (Col2im is not the inverse of im2col: unroll and add back, and a pixel copied four times comes back
# four times as large.)
#
# ## Do all three agree?
#
# Now on random data with everything switched on: five images, three maps in, four out, a mask of $3 \times 2$, stride
# 2 and 1, padding 1. Loops, convolution and matrix products, forward and backward.

# %%
xb, wb, bb = (rng.standard_normal(s) for s in ((5, 3, 8, 7), (4, 3, 3, 2), (4,)))
dyb = rng.standard_normal((5, 4, 4, 8))
forms = {"loops": (ops.conv2d_forward_loops, ops.conv2d_backward_loops),
         "convolution": (ops.conv2d_forward_windows, ops.conv2d_backward_windows),  # with the flip, as above
         "matrix product": (ops.conv2d_forward, ops.conv2d_backward)}
results = {}
for name, (forward, backward) in forms.items():
    y_form, cache = forward(xb, wb, bb, stride=(2, 1), pad=1)
    results[name] = (y_form, *backward(dyb, cache))

for k, what in enumerate(("y", "dx", "dw", "db")):
    for name in ("convolution", "matrix product"):
        checks.check_close(results[name][k], results["loops"][k], rtol=1e-12, atol=1e-12, name=what)
    print(f"{what:<3} {results['loops'][k].shape}: three forms agree to 1e-12")
checks.check_op_gradients(ops.conv2d_forward, ops.conv2d_backward, [xb, wb, bb], rng=rng)

# %% [markdown]
# Equal to $10^{-12}$, which is all one can ask: each form adds the same products in another order, and floating-point
# addition rounds.
#
# ## Why must they agree?
#
# Lesson 07 wrote the layer as one matrix $T$ with zeros and repeated weights: $y = T x$. Then
# lesson 04's rule for a dense layer says $\partial E/\partial x = T^T\, \partial E/\partial y$, shapes
# $(16, 9)\,(9,) \to (16,)$. Build $T$ from 16 images with a single 1, as there:

# %%
units = np.eye(16).reshape(16, 1, 4, 4)
T = ops.conv2d_forward(units, w[None, None])[0].reshape(16, 9).T
assert np.array_equal(T @ x.ravel(), y.ravel())
print((T.T @ dy.ravel()).reshape(4, 4))

# %% [markdown]
# The same numbers. For the weights the rule is $\partial E/\partial T = \partial E/\partial y\; x^T$, shapes $(9,
# 1)\,(1, 16) \to (9, 16)$: one slope per cell of $T$. Cells that hold the same weight move together, so their slopes
# add. `as_matrix`, from lesson 07's figures, says which weight, 1 to 4, each cell holds; cells with 0 stay 0.

# %%
holds = figures.convolution_matrix.as_matrix((2, 2), (4, 4))
dT = dy.reshape(9, 1) @ x.reshape(1, 16)
print("dw", [float(dT[holds == k].sum()) for k in (1, 2, 3, 4)])

# %% [markdown]
# That is `dw`. So a convolution's backward pass is not something else again: scattering, sliding a mask and unrolling
# are three ways to compute $T^T\, \partial E/\partial y$, and the sums of $\partial E/\partial y\; x^T$, without
# building $T$. It costs what lesson 04 counted: two products of the forward one's size.

# %% [markdown]
# ## What does unrolling cost?
#
# **Predict first.** C1, the first layer of lesson 09's network LeNet-5, has a $32\times32$ input, one map in and six
# out, $K = 5$. The unrolled matrix is larger than the image, by what factor?
#
# (a) 1.8 (b) 5 (c) 19 (d) 25
#
# The table has the small example of the forward slides (H, "Analysis of Small Example": three $3\times3$ maps, $K = 2$;
# two output maps) and LeNet-5's three convolutions. "Filter" is the shape of $W_{rows}$, "unrolled" that of $X_{cols}$,
# "replication" the factor asked for.

# %%
layers = {"small": (3, 3, 2, 2), "C1": (1, 32, 5, 6), "C3": (6, 14, 5, 16), "C5": (16, 5, 5, 120)}
table = {}
print("layer  filter    unrolled  elements  replication   uses")
for name, (C, H, K, M) in layers.items():  # maps in, size, mask, maps out
    _, rows, places = ops.im2col(np.zeros((1, C, H, H)), K).shape
    table[name] = ((M, C * K * K), (rows, places), rows * places, ops.replication((1, C, H, H), K), M)
    filters, unrolled = f"{M}x{C * K * K}", f"{rows}x{places}"
    print(f"{name:<6} {filters:<9} {unrolled:<9} {rows * places:>8,} {table[name][3]:>11.2f}x {M:>6}")

# %% [markdown]
# The answer is (c): $25 \times 784$ elements from 1,024 pixels, 19.1 times. In general, for stride 1 and no padding,
# the **replication** is (H, "Analyzing the Amount of Input Replication")
#
# $$\frac{H_{out} W_{out} K^2}{(H_{out} + K - 1)(W_{out} + K - 1)}$$
#
# This extra memory is the disadvantage of im2col (K, "Im2Col Operation"). In bytes, for an image of 32-bit numbers:

# %%
image = np.ones((1, 1, 32, 32), dtype=np.float32)
unrolled = ops.im2col(image, 5)
print(f"image {image.nbytes:,} bytes, unrolled {unrolled.nbytes:,} bytes")

# %% [markdown]
# The column "uses" is what the matrix product gives back. Each number of $X_{cols}$ is multiplied by one weight from
# every row of $W_{rows}$, so it is used $M$ times: 6, 16, 120 (H, "Matrix-Multiplication Enables Additional Reuse").
# Fetched from memory once, it could serve them all.
#
# C5 costs nothing: its mask is as large as its input, there is one window, and the product is a matrix times a vector.
# C1 is the bad case: 19 copies of a pixel are written, each for 6 uses. The way out (H, "Conceptual Unrolling May Help
# Performance") is to unroll only in thought, while loading; lesson 15 does and times that on a GPU. The library unrolls
# a bounded block at a time ([`course_lib/reference/conv2d.py`](../course_lib/reference/conv2d.py)).

# %% [markdown]
# ## What goes wrong: a check that passes
#
# Here is $\partial E/\partial X$ as a full convolution for several maps. (`transpose(1, 0, 2, 3)` swaps the first two
# axes: $M$ maps come in, $C$ go out.) We test it on a mask that blurs.

# %%
def backward_by_sliding(dy, cache):
    w = cache[1]
    _, dw, _ = ops.conv2d_backward(dy, cache)
    dx, _ = ops.conv2d_forward(dy, w.transpose(1, 0, 2, 3), pad=w.shape[2] - 1)
    return dx, dw

blur = np.array([[1.0, 2, 1], [2, 4, 2], [1, 2, 1]])[None, None]
x_test = rng.standard_normal((2, 1, 6, 6))
checks.check_op_gradients(ops.conv2d_forward, backward_by_sliding, [x_test, blur], rng=rng)
print("blur: passes")

# %% [markdown]
# **Predict first.** Input and upstream gradient were random, and the function passed. Is it right? Say what happens
# with a mask of random numbers, everything else the same: (a) it passes (b) `dw` is rejected (c) `dx` is rejected.

# %%
skewed = rng.standard_normal((1, 1, 3, 3))
try:
    checks.check_op_gradients(ops.conv2d_forward, backward_by_sliding, [x_test, skewed], rng=rng)
except checks.GradientMismatch as problem:
    rejected = str(problem).split(":")[0]
print(rejected)

# %% [markdown]
# (c): `args[0]` is $x$. The flip is missing. The blur looks the same after a turn by 180 degrees, so the check noticed
# nothing; with a mask of ones it would not either. The shapes fit in both cases, and no error would ever appear in
# training; the layers before would be taught wrong. Our own `w` shows it:

# %%
wrong = ops.conv2d_forward(dy[None, None], w[None, None], pad=1)[0][0, 0]
print("without flip", wrong[0], " right", dx[0])
assert not np.allclose(wrong, dx)  # and the blur is its own flip:
assert np.array_equal(blur[0, 0], blur[0, 0, ::-1, ::-1])

# %% [markdown]
# **Test with data in which no symmetry can hide a mistake**: random numbers instead of ones, a mask $3 \times 2$
# instead of square, $M$ different from $C$, stride and padding that differ per axis.

# %% [markdown]
# ## Where the lecture is loose
#
# **One index.** An example adds four products for $\partial E/\partial W[0,0,0,0]$, with $Y$ of size $2\times2$ (H,
# "Example"). Its last line ends with $\partial E/\partial Y[0,1,0] \cdot X[0,1,1]$. It must be
# $\partial E/\partial Y[0,1,1]$: the pixel and the output stand at the same place. Measure it:

# %%
x3, dy2 = x[:3, :3], np.array([[1.0, 2], [3, 5]])

def E(w):
    return np.sum(dy2 * ops.conv2d_forward(x3[None, None], w[None, None])[0][0, 0])

three = dy2[0, 0] * x3[0, 0] + dy2[0, 1] * x3[0, 1] + dy2[1, 0] * x3[1, 0]
print("slide", three + dy2[1, 0] * x3[1, 1], " corrected", three + dy2[1, 1] * x3[1, 1],
      f" measured {checks.numerical_gradient(E, w)[0, 0]:.6f}")

# %% [markdown]
# **Three names.** A slide lists 19.1, 12.8 and 1 for C1, C2 and C3 (H, "Convolution Reuse Matches Unrolling
# Replication"). By the table they belong to C1, C3 and C5: LeNet-5's layers 2 and 4 are poolings, S2 and S4.

# %%
print([(name, round(table[name][3], 1)) for name in ("C1", "C3", "C5")])

# %% [markdown]
# ## Optional: why 19 times and not 25
#
# The mask has 25 weights, so why is C1's image not copied 25 times? Only pixels that lie four or more from every border
# stand in all 25 windows. `image` holds ones; unrolled and added back, each pixel says how often it was copied.

# %%
counts = ops.col2im(unrolled, (1, 1, 32, 32), 5)[0, 0]
print(f"copies per pixel: {counts.min():.0f} to {counts.max():.0f}, on average {counts.mean():.1f}")
figures.show(
    figures.cnn_layers.copies(counts, title="C1: how often each pixel is copied"),
    alt=f"Corner pixels are copied {counts[0, 0]:g} time, inner pixels {counts.max():g} times.",
    caption="Once in the corners, 25 times inside: only the rim keeps the average down at 19.1.",
)

# %% [markdown]
# ## Optional: a result on the slides
#
# The slides end with a finished $\partial E/\partial X[0]$ (H, after "Calculating dE/dX"), without the masks and
# gradients that it came from, at least in our text of them. We chose our `dy` so that its full convolution with a mask
# of ones gives exactly that result. Many other masks and gradients would give it too, so it does not say which were
# used.

# %%
lecture = np.array([[2, 5, 7, 4], [5, 11, 13, 7], [8, 12, 8, 4], [5, 6, 2, 1]])
ones = np.ones((2, 2))
assert np.array_equal(figures.cnn_layers.full_convolution(dy, ones), lecture)
print(backward_loops(dy, x, ones)[0])

# %% [markdown]
# ## Optional: stride and padding, backward
#
# With stride 2 the outputs skip every other place. In $\partial E/\partial X$ these places come back as zeros
# *between* the values of `dy`; then the full convolution runs with stride 1 as before. With padding, `dx` is computed
# for the padded image and its border is cut off: the zeros there are no inputs, and nobody asks for their gradient.

# %%
_, cache = ops.conv2d_forward(x[None, None], w[None, None], stride=2)
dy_small = np.array([[5.0, 6], [7, 8]])
spread = np.zeros((3, 3))
spread[::2, ::2] = dy_small  # every second row and column
dx_stride = ops.conv2d_backward(dy_small[None, None], cache)[0][0, 0]
assert np.array_equal(figures.cnn_layers.full_convolution(spread, w), dx_stride)
print(spread, dx_stride, sep="\n")

# %% [markdown]
# ## Try it
#
# - Compare `backward_loops(dy, x, m)[0]` with the full convolution that forgets the flip, for `m = np.ones((2, 2))`,
#   `m = np.array([[1.0, 2], [2, 1]])` and `m = np.array([[1.0, 2], [1, 2]])`. Which two agree, and why?
# - Give `backward_loops` a `stride` argument. Which two indices change? Compare with the optional section.
# - Compute `ops.replication` of a $1\times1$ mask; when is unrolling free? For C1 with `stride=5` it is below 1. Which
#   pixels are missing (`ops.unseen`)?

# %% [markdown]
# ## Check yourself
#
# **1.** A pooling layer takes $2\times2$ windows, and the four pixels of one window are all different. Its `dy` is 8.
# What do they receive in max pooling, and in average pooling? A second window, with `dy` 4, overlaps the first. Can a
# pixel receive 12?
#
# <details><summary>Answer</summary>
#
# Max pooling: the largest receives 8, the others 0. Average pooling: 2 each. Yes, in max pooling: a pixel that is the
# largest of both windows receives 8 + 4. In average pooling a shared pixel receives 2 + 1.
#
# </details>

# %% [markdown]
# **2.** Why does $\partial E/\partial X$ need the flipped mask, and $\partial E/\partial W$ no flip?
#
# <details><summary>Answer</summary>
#
# Follow one product $x_{h+p,v+q}\,w_{pq}$ of $y_{hv}$. Fix the weight: when the output moves right, so does the pixel,
# so `dy` and `x` are walked in the same direction. Fix the pixel: when the output moves right, the pixel stands
# further *left* in the window, so `dy` and `w` are walked in opposite directions. The flip turns one of them around.
#
# </details>

# %% [markdown]
# **3.** A convolution has $C = 8$, $K = 1$, $M = 64$. What is its replication, how often is each unrolled number
# used in the matrix product, and would the gradient check notice a forgotten flip?
#
# <details><summary>Answer</summary>
#
# Each pixel stands in exactly one window, so the replication is 1 and nothing is copied twice. Each value meets 64
# rows of the filter matrix: 64 uses. A $1\times1$ mask is its own flip, so the check passes, and such a test says
# nothing about the flip.
#
# </details>

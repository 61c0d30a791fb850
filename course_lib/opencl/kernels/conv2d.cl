// Convolution with masks (M, C, MASK, MASK), plus a bias (M,); stride 1, no padding. MASK and MAPS are given when the
// program is built.

// y (B, M, H_out, W_out) of x (B, C, H, W): a work-item for each output. z counts the output maps of all images.
__kernel void conv2d(__global const float *x, __global const float *w, __global const float *b, __global float *y,
                     const int B, const int C, const int H, const int W, const int M)
{
    const int H_out = H - MASK + 1, W_out = W - MASK + 1;
    const int col = get_global_id(0), row = get_global_id(1), z = get_global_id(2);
    if (col < W_out && row < H_out && z < B * M) {
        const int image = z / M, m = z % M;
        float acc = b[m];
        for (int c = 0; c < C; c++)
            for (int p = 0; p < MASK; p++)
                for (int q = 0; q < MASK; q++)
                    acc += w[((m * C + c) * MASK + p) * MASK + q] * x[((image * C + c) * H + row + p) * W + col + q];
        y[(z * H_out + row) * W_out + col] = acc;
    }
}

// y (M, H_out, W_out, B) of x (C, H, W, B): neighbours in x are
// neighbouring images at the same place, and a work-item has MAPS output
// maps, so that a number of x that was read is used MAPS times.
// M is a multiple of MAPS.
__kernel void conv2d_images_last(__global const float *restrict x,
                                 __constant float *w, __constant float *b,
                                 __global float *restrict y,
                                 const int B, const int C,
                                 const int H, const int W, const int M)
{
    const int H_out = H - MASK + 1, W_out = W - MASK + 1;
    const int image = get_global_id(0), place = get_global_id(1),
              first = get_global_id(2) * MAPS;
    const int row = place / W_out, col = place % W_out;
    if (image < B) {
        float acc[MAPS];
        for (int m = 0; m < MAPS; m++)
            acc[m] = b[first + m];
        for (int c = 0; c < C; c++)
            for (int p = 0; p < MASK; p++)
                for (int q = 0; q < MASK; q++) {
                    const float value =
                        x[((c * H + row + p) * W + col + q) * B + image];
                    for (int m = 0; m < MAPS; m++)
                        acc[m] += value *
                            w[(((first + m) * C + c) * MASK + p) * MASK + q];
                }
        for (int m = 0; m < MAPS; m++)
            y[((first + m) * H_out * W_out + place) * B + image] = acc[m];
    }
}

// C (M, N) = A (M, K) B (K, N), row by row. TILE is given when the program is built; a work-group has TILE x TILE
// work-items. What lies outside of a matrix counts as 0.
__kernel void product_naive(__global const float *A, __global const float *B, __global float *C,
                            const int M, const int N, const int K)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < M && col < N) {
        float acc = 0;
        for (int k = 0; k < K; k++)
            acc += A[row * K + k] * B[k * N + col];
        C[row * N + col] = acc;
    }
}

__kernel void product_tiled(__global const float *A, __global const float *B,
                            __global float *C, const int M, const int N, const int K)
{
    __local float As[TILE][TILE], Bs[TILE][TILE];
    const int tx = get_local_id(0), ty = get_local_id(1);
    const int col = get_global_id(0), row = get_global_id(1);
    float acc = 0;

    for (int start = 0; start < K; start += TILE) {
        As[ty][tx] =
            row < M && start + tx < K ? A[row * K + start + tx] : 0;
        Bs[ty][tx] =
            start + ty < K && col < N ? B[(start + ty) * N + col] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            acc += As[ty][k] * Bs[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (row < M && col < N)
        C[row * N + col] = acc;
}

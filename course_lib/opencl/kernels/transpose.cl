// y (columns, rows) is x (rows, columns) transposed. TILE and WIDTH are given when the program is built:
// a work-group has TILE x TILE work-items, and a row of its tile in local memory takes WIDTH >= TILE numbers.
// copy_matrix moves as many numbers and leaves them in their places: what no transpose can beat.
__kernel void copy_matrix(__global const float *x, __global float *y, const int rows, const int columns)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < rows && col < columns)
        y[row * columns + col] = x[row * columns + col];
}

__kernel void transpose_naive(__global const float *x, __global float *y, const int rows, const int columns)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < rows && col < columns)
        y[col * rows + row] = x[row * columns + col];
}

__kernel void transpose_tile(__global const float *x, __global float *y, const int rows, const int columns)
{
    __local float tile[TILE][WIDTH];
    const int tx = get_local_id(0), ty = get_local_id(1);
    const int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;

    if (top + ty < rows && left + tx < columns)
        tile[ty][tx] = x[(top + ty) * columns + left + tx];
    barrier(CLK_LOCAL_MEM_FENCE);

    if (left + ty < columns && top + tx < rows)
        y[(left + ty) * rows + top + tx] = tile[tx][ty];
}

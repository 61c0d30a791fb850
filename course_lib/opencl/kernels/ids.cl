// Each work-item writes down who it is. x counts columns; all arrays are (rows, columns), row by row.
__kernel void ids(__global int *global_x, __global int *global_y,
                  __global int *group_x, __global int *group_y,
                  __global int *local_x, __global int *local_y,
                  const int rows, const int columns)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < rows && col < columns) {
        const int i = row * columns + col;
        global_x[i] = get_global_id(0);
        global_y[i] = get_global_id(1);
        group_x[i] = get_group_id(0);
        group_y[i] = get_group_id(1);
        local_x[i] = get_local_id(0);
        local_y[i] = get_local_id(1);
    }
}

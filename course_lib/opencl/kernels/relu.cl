// y = x where x > 0, else slope * x; a work-item takes one element, and the last ones may have none.
__kernel void leaky_relu(__global const float *x, const float slope, __global float *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = x[i] > 0 ? x[i] : slope * x[i];
}

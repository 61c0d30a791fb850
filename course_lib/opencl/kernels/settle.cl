// y = what h tends to if h = h / 2 + x is done n times: 2 x. A step needs the one before it, so a work-item cannot be
// helped by another one; with few work-items most of a device is idle.
__kernel void settle(__global const float *x, __global float *y, const int n)
{
    const int i = get_global_id(0);
    float h = 0;
    for (int step = 0; step < n; step++)
        h = 0.5f * h + x[i];
    y[i] = h;
}

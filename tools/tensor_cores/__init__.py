"""What `tools/measure_tensor_cores.py` measures: products by a library, instructions one by one, and sums."""

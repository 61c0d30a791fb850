"""What `tools/measure_hopper.py` does on a card: what may be chosen, and the parts that verify and time it."""

"""The exercises of each sheet with their public cases: one module a lesson, `EXERCISES` in order.

Usual mistakes are in `*_mistakes`; right values that they start from are in `*_values`, which both import.

Students get a record of each instead, which `checks.recorded` reads, and of the modules here only those that compute no
right value: `*_launches`, `launches` and `kernel_inputs`.
"""

"""The exercises of each sheet with their public cases: one module a lesson, `EXERCISES` in order."""

"""Ladders: one piece of work, from the kernel that everybody writes first to the one that is as fast as the library's.

A rung is one file and one idea. `LADDER` in each ladder's package is its only index: tests, benchmark, tables and
plots follow it. Source: H, "Strategies for Lab 7"; K's course plan; the course's own.
"""

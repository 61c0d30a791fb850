"""What runs inside the grader's sandbox: `worker` serves a notebook there, `snapshots` keeps each answer's moment.

Nothing here knows a right value, a key or another student; `grading.sandbox` is the other end of the pipes.
"""

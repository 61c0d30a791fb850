"""Release, sandboxed worker, host and reports.

To read one submission's way from bytes to points, in this order: `task` (what is graded), `notebook` and
`notebook_file` (bytes -> cells), `definitions` (an answer's source), `host` (grade), `running` (the cells in a box),
`sandbox` (a box and its pipes) with `replies`, `launch`, `box_command`, `box_folders`, `seccomp`, `bytecode`, `cgroup`
and `ending`, `course_lib.box` (what runs inside of it), `questions` (parts and points) and `host_kernels` (kernels,
which are read and never run). `levels` says which boxes this machine has.
"""

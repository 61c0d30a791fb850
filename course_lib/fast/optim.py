from course_lib.reference.optim import sgd_step  # noqa: F401

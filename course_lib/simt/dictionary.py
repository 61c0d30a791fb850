"""All modules that enter words into the vocabulary: whoever reads or runs a kernel imports this one.

Source: the course's own.
"""

from course_lib.simt import (  # noqa: F401
    arithmetic,
    array_words,
    atomics,
    complex_words,
    hopper,
    intrinsics,
    libdevice_words,
    library,
    number_words,
    numpy_words,
    random_words,
    vector_words,
    warps,
)

"""Programs in the way of public notebooks: Numba alone, no word of course_lib. h200.json has their RESULTS on a GPU."""

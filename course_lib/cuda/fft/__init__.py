"""Convolution by Fourier transforms on the device: `course_lib.cuda.conv2d_fft` is the operation, these are its parts.

`registers` transforms a row in a thread's registers, `grids` a whole tile; `plan` cuts a layer into tiles, `tiles` and
`weights` have the kernels for them; `large` multiplies the spectra of whole images, which cuFFT makes (`cufft`).
Source: the course's own.
"""

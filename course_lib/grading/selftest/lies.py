"""Values that only look right: nothing is won by them.

Source: the course's own.
"""

from course_lib.grading.selftest.submission import FULL, ONE_LOST, answered, in_a_call

NUMPY = "import numpy as np\n"
EQUAL = """\
class Meta(type):
    def __eq__(cls, other): return True
    def __hash__(cls): return hash(float)
class Equal(metaclass=Meta):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __hash__(self): return 0
    def __bool__(self): return True
    def __float__(self): return 1.0
    def __sub__(self, other): return self
    __rsub__ = __abs__ = __sub__
return Equal()"""
CLASS = """\
import numpy as np
class Liar:
    __class__ = np.ndarray
    dtype, shape, ndim, nbytes = np.dtype(float), np.shape(x), np.ndim(x), 8 * np.size(x)
    def __array__(self, *a, **k): return 2 * x + 1
return Liar()"""
SUBCLASS = """\
import numpy as np
class Close(np.ndarray):
    def __eq__(self, other): return np.ones(self.shape, bool)
    def __array_ufunc__(self, *a, **k): return True
return (0 * x).view(Close)"""
LAZY = """\
import numpy as np
class Lazy:
    asked = 0
    def __array__(self, *a, **k):
        Lazy.asked += 1
        return 2 * x + 1 if Lazy.asked % 2 else x
    def __len__(self): return len(x)
    def __getitem__(self, i): return (2 * x + 1)[i]
return Lazy()"""
POINTER = """\
class Pointer:
    __array_interface__ = {'shape': (10**6,), 'typestr': '<f8', 'data': (0, False), 'version': 3}
return Pointer()"""
PICKLE = """\
class Sealed:
    def __reduce__(self):
        return eval, ("open('@OUTSIDE@/@TOKEN@-pickle', 'w').close()",)
    def __repr__(self):
        open('@OUTSIDE@/@TOKEN@-repr', 'w').close()
        return '1'
return Sealed()"""
ERROR = """\
class Shy(Exception):
    def __str__(self):
        raise SystemExit(0)
    __repr__ = __str__
raise Shy"""
NAME = "return type('<script>alert(1)</script>' * 20, (), {})()"
HALF = "raise ValueError('\\ud800\\udfff \\x00 \\x1b[2J <script>alert(1)</script> ' + chr(0x202e))"


def _instead(name, tries, id, text, why):
    return answered(name, tries, ONE_LOST, why, {id: text})


def _counts(name, tries, id, text):
    return answered(name, tries, FULL, "the value that it holds is right", {id: text})


OWN = (
    "class Mine(float):\n    def __float__(self): return 0.0\n    __eq__ = lambda s, o: False\n"
    "    __hash__ = float.__hash__\ndef middle(x):\n    return Mine(x.sum() / x.size)\n"
)
UNREAL = """\
class Meta(type):
    __mro__ = property(lambda cls: (cls, float, object))
    def __subclasscheck__(cls, other): return True
class Unreal(metaclass=Meta):
    __class__ = float
    def __float__(self): return 3.0
    def hex(self): return '0x1.8p+1'
    def __eq__(self, other): return True
    __hash__ = None
def middle(x):
    return Unreal()
"""
OBJECTS = """\
import numpy as np
class Equal:
    def __eq__(self, other): return True
    def __float__(self): return 1.0
    __hash__ = None
found = np.empty(x.shape, object)
found.fill(Equal())
return found"""
COUNTED = "calls = []\ndef line(x):\n    calls.append(1)\n    return 2 * x + 1 if len(calls) < 2 else x\n"
HARD_CODED = (
    "import numpy as np\ndef line(x):\n    if x.shape == (2,):\n        return np.array([3.0, 5.0])\n"
    "    return np.array([-5.0])\n"
)

SUBMISSIONS = (
    in_a_call("NaN", "returns NaN", "return x * float('nan')"),
    in_a_call("infinite", "returns infinity", "return x * float('inf')"),
    in_a_call("minus", "returns the negative", "return -(2 * x + 1)"),
    in_a_call("too large", "returns 10 ** 400", "return 10 ** 400"),
    in_a_call("huge shape", "returns an array of no elements and a huge shape", NUMPY + "return np.empty((2**40, 0))"),
    _instead("float subclass", "a float of its own class", "00.3", "class Mine(float):\n    "
             "__eq__ = lambda s, o: True\n    __hash__ = float.__hash__\ndef middle(x):\n    return Mine(0.0)\n",
             "it counts as the 0 that it holds"),
    _counts("its own classes", "numbers of their own classes, all of them right", "00.3", OWN),
    _counts("list for an array", "the right numbers as a list of lists", "00.1",
            "def line(x):\n    return (2 * x + 1).tolist()\n"),
    _instead("class without a number", "a class that says it inherits from float", "00.3", UNREAL,
             "it holds no number"),
    in_a_call("equal to everything", "an object that equals everything, as does its class", EQUAL),
    in_a_call("false class", "an object that says it is an array", CLASS),
    in_a_call("array subclass", "an array of its own class", SUBCLASS),
    in_a_call("lazy array", "an object that is an array now and then", LAZY),
    in_a_call("false pointer", "an array of other memory", POINTER),
    in_a_call("objects", "an array of objects that equal everything", OBJECTS),
    in_a_call("generator", "a generator of right numbers", "return (v for v in 2 * x + 1)"),
    in_a_call("text", "the right numbers as a text", "return repr(2 * x + 1)"),
    in_a_call("no return", "returns nothing", "2 * x + 1"),
    in_a_call("masked", "an array with a mask over what is wrong", NUMPY + "return np.ma.masked_array(x, True)"),
    in_a_call("pickled trap", "an object that writes when it is unpickled or shown", PICKLE),
    in_a_call("shy error", "an error whose text ends Python", ERROR),
    in_a_call("a type's name", "a type with a script as its name", NAME),
    in_a_call("half characters in an error", "an error with what no file can hold", HALF),
    in_a_call("its argument", "returns its argument", "return x"),
    in_a_call("in place", "changes its argument, and returns it", "x *= 2\nx += 1\nreturn x"),
    _instead("only the first time", "right only when it is first called", "00.1", COUNTED, "the second call is wrong"),
    _instead("hard-coded", "the public examples' values", "00.1", HARD_CODED, "constants earn nothing"),
    _instead("library call", "calls the function that it is to write", "00.4", "from course_lib.reference import "
             "relu_forward\ndef clipped(x):\n    return relu_forward(x)[0]\n", "the sheet says: not with this"),
)  # fmt: skip
"""The submissions of this family."""

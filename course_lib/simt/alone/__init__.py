"""Long loops of one thread: the walk of such a loop, written out for its types and compiled.

Where all but one lane are elsewhere, a step of the walk does one thread's work and costs as much as one for
thousands. So a loop that goes round many thousand times is handed over: `writer` and `loop` write down what the walk
would do in a turn - the same numbers, the same checks, what is to be counted - in words of their own, and Numba
compiles that. Of the kernel's text nothing is executed, here as elsewhere. A turn in which something happens that is
to be told (an index out of bounds, a division by zero, a read of unwritten memory, the loop's end) is taken back and
walked. `account` enters what the compiled turns touched; `handover` says when.

Source: the course's own.
"""

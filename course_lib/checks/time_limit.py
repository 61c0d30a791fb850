"""Stop an answer that does not end, in the process that it runs in: a notebook's kernel lives on.

A thread waits, and when the time is up, it sends the main thread the signal of Ctrl-C, as Jupyter's own "Interrupt"
does. On Windows, which has no alarm signal and sends none between threads, `_thread.interrupt_main` does the same to
Python, and ipykernel interrupts cells there in that way too. Code in C (one large product) is stopped when it returns.
The processor's time counts, so that a busy machine stops nothing that would have ended on another one.

Source: the course's own; Python's documentation of `signal` and `_thread`.
"""

import _thread
import signal
import threading
import time

SECONDS = 10.0
"""For one call of an answer: what the grader allows too, and several times what the slowest solution takes."""

AGAIN = 1.0
"""Seconds after which an answer that caught the interruption is interrupted again."""

PATIENCE = 4.0
"""Times the seconds that may pass on the clock, for an answer that has not had them from a busy machine."""

LEAST_SHARE = 0.05
"""Of a processor, that an answer at work gets on a busy machine; one that uses less sleeps."""


class TimeUp(BaseException):
    """The time is up; no Exception, so that no `except Exception` of an answer catches it. Source: the course's own."""


class TimeLimit:
    """`with TimeLimit(seconds): ...` raises `TimeUp` inside if it takes longer, by the processor's time.

    What sleeps has as many seconds on the clock, what a busy machine slows down at most `PATIENCE` times as many.

    Ctrl-C and a notebook's "Interrupt" work as before meanwhile. Signals reach only the main thread, so in any other
    thread there is no limit.

    Parameters
    ----------
    seconds : float > 0

    ValueError for other seconds. Source: the course's own.
    """

    def __init__(self, seconds=SECONDS):
        if not seconds > 0:
            raise ValueError(f"the limit is {seconds} s; it must be positive.")
        self.seconds = seconds
        self._done, self._over, self._active = threading.Event(), False, False
        self._thread = None

    def __enter__(self):
        if threading.current_thread() is not threading.main_thread():
            return self
        self._main = threading.get_ident()
        self._before = signal.signal(signal.SIGINT, self._interrupted)
        self._active = True
        self._thread = threading.Thread(target=self._wait, name="time limit of a check", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        if self._thread is None:
            return
        try:
            self._active = False  # first: from here on the signal raises nothing
        finally:
            self._done.set()
            self._thread.join()
            signal.signal(signal.SIGINT, self._before)  # what is pending is handled before, by our handler

    def _wait(self):
        began, used, seconds = time.monotonic(), time.process_time(), self.seconds
        while not self._done.wait(seconds):
            seconds = self._left(time.monotonic() - began, time.process_time() - used)
            if not self._over and seconds > 0:
                continue
            self._over, seconds = True, AGAIN
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(self._main, signal.SIGINT)  # ends time.sleep and input() as well
            else:
                _thread.interrupt_main()

    def _left(self, passed, used):
        """Return the seconds to wait on for an answer that had `used` of the processor in those that passed."""
        if used < LEAST_SHARE * passed or passed >= PATIENCE * self.seconds:
            return 0.0
        return min(self.seconds - used, PATIENCE * self.seconds - passed)

    def _interrupted(self, number, frame):
        if self._over:
            if self._active:
                raise TimeUp
        elif callable(self._before):
            self._before(number, frame)
        elif self._before != signal.SIG_IGN:
            raise KeyboardInterrupt

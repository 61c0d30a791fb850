"""Which launches of a recorded graph must wait for which: the order that memory asks for, and no more.

A launch waits for the last one that wrote what it reads, and one that writes waits for all who read it before. What has
no such tie may run at the same time: most kernels of a small network leave most of a card idle.

Source: NVIDIA, "CUDA C++ Programming Guide", "CUDA Graphs" (nodes and dependencies).
"""

from dataclasses import dataclass, field


@dataclass
class _Span:
    """Bytes `start` to `stop` of memory: who wrote them last, if anybody, and who read them since."""

    start: int
    stop: int
    writer: int | None
    readers: list = field(default_factory=list)


class NodeOrder:
    """Launches in the order in which they were asked for, numbered from 0; `add` says what each must wait for.

    Source: the course's own.
    """

    def __init__(self):
        self.spans, self.before = [], []

    def add(self, uses):
        """Return the numbers of the launches that the next one must wait for, a sorted list, as few as will do.

        Parameters
        ----------
        uses : list of (start, stop, writes)
            The bytes of memory that it uses, and whether it may write them.

        No errors. Source: the course's own.
        """
        node, ties = len(self.before), set()
        for start, stop, writes in uses:
            for span in self._reaching(start, stop):
                ties |= {span.writer, *span.readers} if writes else {span.writer}
        ties.discard(None)
        for start, stop, writes in sorted(uses, key=lambda use: use[2]):  # a read and a write of one launch: a write
            self._note(start, stop, writes, node)
        known = 0
        for tie in ties:
            known |= self.before[tie]
        self.before.append(known | sum(1 << tie for tie in ties))
        return sorted(tie for tie in ties if not known >> tie & 1)  # who is waited for by another needs no second tie

    def _reaching(self, start, stop):
        return [span for span in self.spans if span.start < stop and start < span.stop]

    def _note(self, start, stop, writes, node):
        if writes:
            self.spans = [s for s in self.spans if s.start < start or stop < s.stop]  # the others nobody needs any more
            self.spans.append(_Span(start, stop, node))
            return
        for span in self.spans:
            if (span.start, span.stop) == (start, stop):
                span.readers.append(node)
                return
        self.spans.append(_Span(start, stop, None, [node]))

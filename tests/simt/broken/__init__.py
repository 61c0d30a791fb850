"""The kernels that students write, each with one mistake, in files by the kind of mistake."""

from tests.simt.broken import barriers, bounds, endless, launch, memory, performance, races, wide, words

__all__ = ["barriers", "bounds", "endless", "launch", "memory", "performance", "races", "wide", "words"]

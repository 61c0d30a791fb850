"""The findings of a report by themselves: what was found, where, who did it and what to do."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Findings:
    """The first findings of a report, hazards before advice; displays itself. Made by `findings`.

    Source: the course's own.
    """

    report: object
    most: int

    @property
    def text(self):
        """One line for each finding, or that there is none."""
        from course_lib.simt.show import wording

        found = [*self.report.hazards, *self.report.advice]
        more = [f"{len(found) - self.most} more"] * (len(found) > self.most)
        return "\n".join([*map(str, found[: self.most]), *more]) or wording.findings_in_words(self.report)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from course_lib.simt.show import display

        return {"text/html": display.findings(self.report, self.most), "text/plain": self.text}

    def __repr__(self):
        return self.text


def findings(report, *, most=2):
    """Show what a report found, without its numbers.

    Parameters
    ----------
    report : Report
    most : int >= 1
        How many findings are shown; of others it is said how many there are.

    Raises
    ------
    ValueError
        `most` is below 1.

    Source: the course's own.
    """
    if most < 1:
        raise ValueError(f"most is {most}; at least 1 finding is shown")
    return Findings(report, most)

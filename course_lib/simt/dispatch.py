"""Which method of a walk does what a node of a syntax tree says. Source: the course's own."""


class Methods(dict):
    """The methods of a class by the class of a node: of `ast.BinOp` the one that is called `prefix` + "BinOp", or None.

    Source: the course's own.
    """

    def __init__(self, owner, prefix):
        super().__init__()
        self.owner, self.prefix = owner, prefix

    def __missing__(self, kind):
        self[kind] = found = getattr(self.owner, f"{self.prefix}{kind.__name__}", None)
        return found

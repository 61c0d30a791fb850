"""What a page would ask of another host by itself."""

from __future__ import annotations

import re

__all__ = ["outside_requests"]

# A tag that makes the browser ask another host by itself; a link that a reader may click is none.
_REQUEST = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object|image|use)\b[^>]*?"
    r"\b(?:src|href|data|srcset)\s*=\s*[\"']?\s*((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b[^>]*?\bhref\s*=\s*[\"']?\s*((?:https?:)?//[^\"'\s>]+)"
    r"|(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)",
    re.IGNORECASE,
)


def outside_requests(page: str) -> list[str]:
    """List the addresses that a page would ask by itself (scripts, pictures, styles), without a click."""
    return [next(filter(None, match)) for match in _REQUEST.findall(page)]

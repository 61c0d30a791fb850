"""What guards and lint ask of the HTML in outputs and prose: its images, and how many bytes they are."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import unquote_to_bytes

from nbformat import NotebookNode

DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=-]+)*,[^\"'\s>)]*")


class _Images(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("img", "svg"):
            self.found.append((tag, dict(attrs)))


def images(html: str) -> list[tuple[str, dict[str, str | None]]]:
    """``[("img" or "svg", attributes), ...]`` of the images in `html`, in order."""
    parser = _Images()
    parser.feed(html)
    return parser.found


def joined(value: str | list[str]) -> str:
    """A notebook's text as one string; files may keep it as a list of lines."""
    return value if isinstance(value, str) else "".join(value)


def bundles(cell: NotebookNode) -> Iterator[dict[str, str]]:
    """The mime bundles among a code cell's outputs."""
    for output in cell.get("outputs", []):
        if "data" in output:
            yield {mime: joined(value) for mime, value in output.data.items() if isinstance(value, str | list)}


def without_data_uris(text: str) -> str:
    """`text` without embedded images: their bytes are no text, and may spell anything."""
    return DATA_URI.sub("data:", text)


def uri_bytes(uri: str) -> int:
    """Bytes that a data URI embeds (decoded for base64; as they stand in the file for text such as SVG)."""
    head, _, body = uri.partition(",")
    return len(base64.b64decode(unquote_to_bytes(body))) if head.endswith(";base64") else len(body)


def image_sizes(cell: NotebookNode) -> Iterator[int]:
    """Bytes of every image in a code cell's outputs, bare or embedded in HTML."""
    for bundle in bundles(cell):
        for mime, value in bundle.items():
            if mime.startswith("image/"):
                yield len(value) if mime == "image/svg+xml" else len(base64.b64decode(value))
            else:
                yield from (uri_bytes(uri) for uri in DATA_URI.findall(value) if uri.startswith("data:image/"))

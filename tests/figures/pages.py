"""Read HTML and data URIs the way a browser does, for the tests of figures."""

import base64
import io
import re
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

from PIL import Image

from course_lib.figures.picture import PNG_SCALE

HOSTILE = (
    """a </script><script>alert(1)</script> & "quoted" 'single' <img src=x onerror=alert(2)> \u2028 ${x} `t` \\n"""
)


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append(dict(attrs))

    def handle_data(self, data):
        self.text.append(data)


def read_html(text):
    """Return (tag names, their attributes, text pieces) in order; scripts are one piece of text."""
    parser = _Tags()
    parser.feed(text)
    parser.close()
    return parser.tags, parser.attributes, parser.text


def read_svg(src):
    """Return the root element of an SVG data URI."""
    head, _, body = src.partition(",")
    assert head == "data:image/svg+xml"
    return ElementTree.fromstring(unquote(body))


def read_png(src):
    """Return the image of a PNG data URI."""
    head, _, body = src.partition(",")
    assert head == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(body)))


def svg_texts(root):
    """Return all lines of text of an SVG drawing."""
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


def drawn_widths(page):
    """Return the width that each picture of a page was drawn with, as on a phone, whatever it grows to elsewhere."""
    widths = []
    for src in re.findall(r'<img [^>]*?src="(data:image/[^"]+)"', page):
        svg = src.startswith("data:image/svg")
        widths.append(float(read_svg(src).get("width")) if svg else read_png(src).width / PNG_SCALE)
    return widths

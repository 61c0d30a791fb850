"""The reply of a worker, read strictly: what is not exactly as it should be ends the box.

Source: the course's own.
"""

import json

FIELDS = {
    **{"nonce": (str,), "seconds": (float,), "error": (str,), "changed": (list,), "notes": (list,)},
    "value": (dict, type(None)),
}
"""Field of a reply -> exact types."""

MOST_ERROR, MOST_NAME = 1000, 80
BROKEN = "ProtocolError: the answer's process broke the protocol"


class BoxEnded(Exception):
    """The box is over; the message says why, as an error does: "TimeoutError: it went on ...".

    Source: the course's own.
    """


def read_reply(line, nonce):
    """Return the fields of a reply; BoxEnded unless it has them all, of their types, with this nonce, and no others.

    Source: the course's own.
    """
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError, MemoryError):
        raise BoxEnded(BROKEN) from None
    if type(reply) is not dict or reply.keys() != FIELDS.keys() or reply["nonce"] != nonce:
        raise BoxEnded(BROKEN)
    if any(type(reply[name]) not in kinds for name, kinds in FIELDS.items()) or len(reply["error"]) > MOST_ERROR:
        raise BoxEnded(BROKEN)
    for field, longest in (("changed", MOST_NAME), ("notes", MOST_ERROR)):
        if len(reply[field]) > 99 or not all(type(text) is str and len(text) <= longest for text in reply[field]):
            raise BoxEnded(BROKEN)
    return reply

"""What a front end does with the messages that nbval ignores: clear, update in place, capture by an Output widget.

Without it, a cell that redraws shows only its last picture in the built notebook (nbclient does the same as here), but
all of them under nbval.
"""

from __future__ import annotations

from typing import Any

from nbval.plugin import IPyNbCell

_OUTPUTS = ("stream", "display_data", "execute_result")


class LiveOutputs:
    """Applies live-display messages to the outputs that nbval collects for one cell, ``cell.test_outputs``.

    Not covered: an update of a display that an *earlier* cell made. That cell is compared already.
    """

    def __init__(self, cell: IPyNbCell) -> None:
        self._cell = cell
        self._clear_pending = False
        self._displays: dict[str, list[int]] = {}  # display id -> places in the outputs
        self._output_widgets: set[str] = set()  # comm ids of Output widgets
        self._capturing: list[str] = []  # those inside whose `with` the cell is

    def wants(self, message: dict[str, Any], request: str) -> bool:
        """Whether nbval should see this message; if not, what it means has been done here."""
        if message["parent_header"].get("msg_id") != request:
            return True  # of another cell: nbval passes it over
        kind, content = message["msg_type"], message["content"]
        if kind in ("comm_open", "comm_msg"):
            self._watch_output_widget(kind, content)
            return True
        if self._capturing and kind in (*_OUTPUTS, "clear_output", "update_display_data"):
            return False  # it lands in the widget. An error does not: no widget hides one from the gate
        if kind == "clear_output":
            self._clear_pending = True
            if not content.get("wait"):
                self._clear()
            return False
        display_id = (content.get("transient") or {}).get("display_id")
        if kind == "update_display_data":
            for place in self._displays.get(display_id, []):
                self._outputs[place].update(data=content["data"], metadata=content["metadata"])
            return False
        if kind in (*_OUTPUTS, "error"):
            if self._clear_pending:
                self._clear()
            if display_id:
                self._displays.setdefault(display_id, []).append(len(self._outputs))
        return True

    @property
    def _outputs(self) -> list[Any]:
        return self._cell.test_outputs

    def _clear(self) -> None:
        self._outputs.clear()
        self._displays.clear()
        self._clear_pending = False

    def _watch_output_widget(self, kind: str, content: dict[str, Any]) -> None:
        comm, state = content["comm_id"], content.get("data", {}).get("state", {})
        if kind == "comm_open" and state.get("_model_name") == "OutputModel":
            self._output_widgets.add(comm)
        elif comm in self._output_widgets and "msg_id" in state:
            if state["msg_id"]:
                self._capturing.append(comm)
            elif comm in self._capturing:
                self._capturing.remove(comm)

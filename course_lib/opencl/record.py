"""Record what a device does with each launch, so that machines without one can show it (tools/measure_opencl.py).

Source: the course's own.
"""

from dataclasses import asdict, replace

from course_lib.opencl.findings import compiler_said
from course_lib.opencl.launches import Recording, build_key, pack
from course_lib.opencl.on_device import carry_out, look_for_mistakes, simulator


class Recorder:
    """Answers as `answers.Kept` does, but from a device, and keeps every answer in `recording`.

    Parameters
    ----------
    device : devices.Device
        It makes the launches.
    about : dict
        What is kept of the machine, beside the device's facts.
    second : devices.Device, optional
        Makes the launches of device 1; unless given, `device` makes them, too.

    Source: the course's own.
    """

    def __init__(self, device, about, second=None):
        import pyopencl

        self.cl, self.devices = pyopencl, (device, second or device)
        first, other = ({**_facts(one), **about} for one in self.devices)
        self.recording = Recording(device=first, second=other)

    def build(self, text, options):
        """Compile on the device; return "" or what the compiler says. Source: as `answers.Kept.build`. No errors."""
        program = self.cl.Program(self.cl.Context([self.devices[0].handle]), text)
        try:
            program.build(list(options))
            said = ""
        except self.cl.Error as error:
            said = compiler_said(str(error))
        self.recording.builds[build_key(text, options)] = said
        return said

    def launch(self, launch):
        """Launch on the device; return what it wrote and its times. Errors as pyopencl's. Source: the course's own."""
        handle = self.devices[launch.device].handle
        carry_out(self.cl, handle, launch)  # some compile at the first launch
        made = carry_out(self.cl, handle, launch)
        given = {place: told[2] for place, told in enumerate(launch.arguments) if told[0] == "buffer"}
        writes = {str(place): pack(new) for place, new in made.contents.items() if new != given[place]}
        kept = {"writes": writes, "times": list(made.times)}
        self.recording.launches[launch.key] = kept
        return kept

    def findings(self, launch):
        """Return the simulator's lines of a launch. Errors as `look_for_mistakes`. Source: the course's own."""
        lines = look_for_mistakes(launch)
        self.recording.findings[launch.key] = pack("\n".join(lines).encode())
        self.recording.device["simulator"] = simulator().version
        return lines


def _facts(device):
    return {k: v for k, v in asdict(replace(device, handle=None)).items() if k not in ("handle", "trouble")}

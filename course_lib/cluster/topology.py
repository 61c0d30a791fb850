"""Which links a message takes: devices of a host by a switch of their own, hosts by a fat tree.

    device -- switch in the host -- device                       `inside`, a link for each device and direction
    device -- host's link -- leaf switch -- host's link -- device         `between`, one a host and direction
    leaf switch -- spine -- leaf switch                          as wide as all links below, or less: oversubscribed

Source: C. Leiserson (1985), "Fat-Trees"; M. Al-Fares, A. Loukissas and A. Vahdat (2008), "A Scalable, Commodity Data
Center Network Architecture" (oversubscription).
"""

from dataclasses import dataclass, replace
from functools import cached_property

from course_lib.cluster.links import INFINIBAND, NVLINK, Link
from course_lib.validate import require_count, require_positive

OUT_OF_A_HOST = INFINIBAND.times(8)
"""A wire for each of eight devices."""



@dataclass(frozen=True)
class Cluster:
    """Devices, numbered host by host.

    Attributes
    ----------
    devices : int
    per_host : int
        Devices of a host; the last host may have fewer.
    inside : Link
        From each device into its host's switch, and back; any two devices of a host are one such link apart.
    between : Link
        From each host to its leaf switch, shared by its devices.
    hosts_per_leaf : int
    oversubscription : float >= 1
        How many times the links below a leaf switch are wider than those above it.
    spine_latency : float >= 0
        Seconds that the way over a spine takes in addition.

    TypeError or ValueError for sizes that are none. Source: Leiserson (1985).
    """

    devices: int
    per_host: int = 8
    inside: Link = NVLINK
    between: Link = OUT_OF_A_HOST
    hosts_per_leaf: int = 16
    oversubscription: float = 1.0
    spine_latency: float = 0.5e-6

    def __post_init__(self):
        for name in ("devices", "per_host", "hosts_per_leaf"):
            require_count(name, getattr(self, name))
        require_positive("oversubscription", self.oversubscription)
        if self.oversubscription < 1:
            raise ValueError(
                f"oversubscription is {self.oversubscription:g}; a tree is no wider above than below: >= 1."
            )

    @property
    def hosts(self):
        """How many hosts there are."""
        return -(-self.devices // self.per_host)

    def with_links(self, latency=1.0, rate=1.0):
        """Return the same cluster with links that have `latency` times the latency and `rate` times the bandwidth.

        TypeError or ValueError for numbers that make no `Link`. Source: the course's own.
        """
        changed = {
            name: replace(link, latency=latency * link.latency, bandwidth=rate * link.bandwidth)
            for name, link in (("inside", self.inside), ("between", self.between))
        }
        return replace(self, **changed, spine_latency=latency * self.spine_latency)

    @cached_property
    def spine(self):
        """The Link from a leaf switch to those above it."""
        width = self.hosts_per_leaf * self.between.bandwidth / self.oversubscription
        return Link("spine", self.spine_latency, width)

    def host(self, device):
        """Return the number of a device's host. No errors."""
        return device // self.per_host

    def path(self, source, to):
        """Return the links from one device to another, a list of (key, Link): equal keys are one and the same link.

        The latency is that of the first link and the spine's, as theirs are from end to end.
        ValueError for a device that is not there, or the same twice. Source: Leiserson (1985).
        """
        for name, device in (("source", source), ("to", to)):
            if not 0 <= device < self.devices:
                raise ValueError(f"{name} is {device}; the {self.devices} devices are 0 .. {self.devices - 1}.")
        if source == to:
            raise ValueError(f"source and to are both {to}; a message goes to another device.")
        a, b = self.host(source), self.host(to)
        if a == b:
            return [(("out", source), self.inside), (("in", to), self._ends["inside"])]
        path = [(("host out", a), self.between)]
        up, down = a // self.hosts_per_leaf, b // self.hosts_per_leaf
        if up != down:
            path += [(("leaf up", up), self.spine), (("leaf down", down), self._ends["spine"])]
        return [*path, (("host in", b), self._ends["between"])]

    @cached_property
    def _ends(self):
        """The far ends of links: as busy, but their latency has been counted."""
        return {name: replace(getattr(self, name), latency=0.0) for name in ("inside", "between", "spine")}

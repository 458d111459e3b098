"""Hosts in network namespaces of this machine, on one switch. A cut cable drops packets silently."""

from __future__ import annotations

import itertools
import os
import subprocess
from contextlib import ExitStack

_SUBNET = "10.77.0"
_networks = itertools.count()


class Network:
    """Hosts by name, each with an address. Needs root (``need("netns")``); ``close`` removes everything."""

    def __init__(self, *names: str) -> None:
        self._tag = f"gr{os.getpid()}-{next(_networks)}"
        self._numbers = {name: number for number, name in enumerate(names, 1)}
        self._stack = ExitStack()
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def address(self, host: str) -> str:
        return f"{_SUBNET}.{self._numbers[host]}"

    def namespace(self, host: str) -> str:
        return f"{self._tag}-{host}"

    def cut(self, host: str) -> None:
        """Packets from and to ``host`` vanish from now on: no refusal, no carrier lost."""
        self._switch("link", "set", f"p-{host}", "nomaster")

    def restore(self, host: str) -> None:
        self._switch("link", "set", f"p-{host}", "master", "switch")

    def restore_all(self) -> None:
        for host in self._numbers:
            self.restore(host)

    def close(self) -> None:
        self._stack.close()

    def _build(self) -> None:
        self._add("switch")
        self._switch("link", "add", "switch", "type", "bridge")
        self._switch("link", "set", "switch", "up")
        for host in self._numbers:
            self._add(host)
            end = ["name", "eth0", "address", self._mac(host), "netns", self.namespace(host)]
            self._switch("link", "add", f"p-{host}", "type", "veth", "peer", *end)
            self._switch("link", "set", f"p-{host}", "master", "switch", "up")
            self._on(host, "link", "set", "lo", "up")
            self._on(host, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
            self._on(host, "link", "set", "eth0", "up")
        for host in self._numbers:
            for other in self._numbers:
                if host != other:
                    # Permanent: looking up a neighbour over a cut cable would report that there is no route, which a
                    # router in between would not do.
                    known = [self.address(other), "lladdr", self._mac(other), "dev", "eth0"]
                    self._on(host, "neigh", "add", *known, "nud", "permanent")

    def _add(self, host: str) -> None:
        name = self.namespace(host)
        _ip("netns", "add", name)
        self._stack.callback(_ip, "netns", "del", name)

    def _mac(self, host: str) -> str:
        return f"02:00:00:00:77:{self._numbers[host]:02x}"

    def _on(self, host: str, *arguments: str) -> None:
        _ip("-n", self.namespace(host), *arguments)

    def _switch(self, *arguments: str) -> None:
        self._on("switch", *arguments)


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"

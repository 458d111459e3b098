"""pytest-xdist's scheduler for the groups of ``tests.groups``."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests import groups


class Grouped(LoadScopeScheduling):
    """Needed because --dist=loadgroup makes no groups under pytest 9.2 (pytest-xdist 3.8)."""

    def _split_scope(self, nodeid: str) -> str:
        return groups.group(nodeid)

    def _reschedule(self, node: WorkerController) -> None:
        if self._is_alone_left() and len(self.nodes) > 1:
            self._send_home(node)
        else:
            super()._reschedule(node)

    def remove_node(self, node: WorkerController) -> str | None:
        crashed = super().remove_node(node)
        if self._is_alone_left() and len(self.nodes) == 1:
            self._reschedule(self.nodes[0])
        return crashed

    def _is_alone_left(self) -> bool:
        return bool(self.workqueue) and all(name in groups.ALONE for name in self.workqueue)

    def _send_home(self, node: WorkerController) -> None:
        """End this process, unless it is the last: that one waits, with a test in hand, until the others have
        ended.
        """
        staying = [other for other in self.nodes if not other.shutting_down]
        if staying != [node] and node in staying and self._pending_of(self.assigned_work[node]) <= 2:
            node.shutdown()

"""The tests' own scheduler: measuring tests run when no other does."""

from __future__ import annotations

from types import SimpleNamespace

from tests import groups
from tests.scheduler import Grouped

MEASURING = groups.ALONE[0]


class Node:
    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.given: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def run(tests: list[str], processes: int) -> list[tuple[str, set[str]]]:
    """Each test, with the tests that were running in other processes when it began. A process begins its last
    test only when it has the next, or must end.
    """
    options = SimpleNamespace(loadscopereorder=False, tx=["popen"] * processes)
    config = SimpleNamespace(option=options, getvalue=lambda name: getattr(options, name))
    scheduler = Grouped(config, None)  # type: ignore[arg-type]
    nodes = [Node(f"gw{number}") for number in range(processes)]
    for node in nodes:
        scheduler.add_node(node)  # type: ignore[arg-type]
        scheduler.add_node_collection(node, tests)  # type: ignore[arg-type]
    scheduler.schedule()
    ran = []
    while nodes:
        node = next(process for process in nodes if process.shutting_down or len(process.given) > 1)
        if node.given:
            beside = {tests[index] for other in nodes if other is not node for index in other.given}
            index = node.given.pop(0)
            ran.append((tests[index], beside))
            scheduler.mark_test_complete(node, index)  # type: ignore[arg-type]
            nodes.sort(key=lambda it: it is node)  # the others' turn
        else:
            nodes.remove(node)
            if node in scheduler.nodes:
                scheduler.remove_node(node)  # type: ignore[arg-type]
        if scheduler.tests_finished:
            for each in nodes:
                each.shutdown()
    return ran


def test_each_test_runs_once_and_the_measuring_ones_alone() -> None:
    files = [f"tests/a/test_{number}.py::test_{name}" for number in range(7) for name in "abc"]
    tests = [*files, *(f"{MEASURING}::test_{name}" for name in "abcd")]
    for processes in (1, 2, 4):
        ran = run(tests, processes)
        assert sorted(test for test, _ in ran) == sorted(tests)
        assert {test for test, beside in ran if test.startswith(MEASURING) and beside} == set()


def test_measuring_tests_without_others_run_too() -> None:
    tests = [f"{MEASURING}::test_{name}" for name in "ab"]
    assert [test for test, _ in run(tests, 3)] == tests

"""A process's cache of grades, valid while nothing they depend on changes."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field

from cachetools import LRUCache

from grader.schemas.gradebook import StudentGrades

# 500 students with 12 assignments take some 10 MiB.
_KEPT_COURSES = 16


@dataclass
class KeptCourse:
    """``rules``: equal for everyone. ``students``: by id, facts and grades."""

    rules: Hashable
    students: dict[int, tuple[Hashable, StudentGrades]] = field(default_factory=dict)


class KeptGrades:
    """The most recently used courses."""

    def __init__(self) -> None:
        self._courses: LRUCache[int, KeptCourse] = LRUCache(_KEPT_COURSES)
        self._lock = threading.Lock()

    def of(self, course: int, rules: Hashable) -> KeptCourse:
        """Empty if the rules changed. Two threads may fill it with the same values."""
        with self._lock:
            kept = self._courses.get(course)
            if kept is None or kept.rules != rules:
                kept = self._courses[course] = KeptCourse(rules)
            return kept

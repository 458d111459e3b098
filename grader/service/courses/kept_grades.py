"""Grades that a process has computed, kept for as long as nothing that they depend on has changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

from grader.schemas.gradebook import StudentGrades

# A course of 500 with 12 assignments takes some 10 MiB.
_KEPT_COURSES = 16


@dataclass
class KeptCourse:
    """``rules``: all that grades depend on and that is the same for everyone. By student, what theirs were computed
    from, and the grades."""

    rules: Hashable
    students: dict[int, tuple[Hashable, StudentGrades]] = field(default_factory=dict)


class KeptGrades:
    """Those of the courses that were looked at last."""

    def __init__(self) -> None:
        self._courses: OrderedDict[int, KeptCourse] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, course: int, rules: Hashable) -> KeptCourse:
        """What is kept of a course; a new one where its rules have changed. Two threads may fill the same one: both
        write what is true."""
        with self._lock:
            kept = self._courses.pop(course, None)
            if kept is None or kept.rules != rules:
                kept = KeptCourse(rules)
            self._courses[course] = kept
            while len(self._courses) > _KEPT_COURSES:
                self._courses.popitem(last=False)
            return kept

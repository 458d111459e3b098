"""Line differences of two texts in bounded time; difflib alone can be kept busy for minutes."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate

from grader import limits

_CONTEXT = 3


class Matcher(difflib.SequenceMatcher[str]):
    """Finds difflib's matches until ``limits.DIFF_STEPS`` are used up. All else counts as changed."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new)
        self._old, self._new = old, new

    def get_matching_blocks(self) -> list[difflib.Match]:
        # A search visits each old line of its range, and each equal line of the new text.
        places: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined]  # by line of the new text
        steps = [0, *accumulate(1 + len(places.get(line, ())) for line in self._old)]
        left = limits.DIFF_STEPS
        ranges = deque([(0, len(self._old), 0, len(self._new))])
        found: list[difflib.Match] = []
        while ranges:
            start, end, begin, stop = ranges.popleft()
            cost = steps[end] - steps[start]
            if start == end or begin == stop or cost > left:
                continue
            left -= cost
            match = self.find_longest_match(start, end, begin, stop)
            if match.size:
                found.append(match)
                ranges.append((start, match.a, begin, match.b))
                ranges.append((match.a + match.size, end, match.b + match.size, stop))
        return [*_joined(sorted(found)), difflib.Match(len(self._old), len(self._new), 0)]


def _joined(matches: Sequence[difflib.Match]) -> list[difflib.Match]:
    joined: list[difflib.Match] = []
    for match in matches:
        last = joined[-1] if joined else None
        if last is not None and (last.a + last.size, last.b + last.size) == (match.a, match.b):
            joined[-1] = last._replace(size=last.size + match.size)
        else:
            joined.append(match)
    return joined


def unified(old: Sequence[str], new: Sequence[str], old_name: str, new_name: str) -> Iterator[str]:
    """Without line ends."""
    for place, group in enumerate(Matcher(old, new).get_grouped_opcodes(_CONTEXT)):
        if not place:
            yield from (f"--- {old_name}", f"+++ {new_name}")
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        yield f"@@ -{_range(a, b)} +{_range(c, d)} @@"
        for tag, start, end, begin, stop in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[start:end])
            else:
                yield from (f"-{line}" for line in old[start:end])
                yield from (f"+{line}" for line in new[begin:stop])


def _range(start: int, end: int) -> str:
    """From 1, and length; if empty, the line before."""
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + 1 if length else start},{length}"

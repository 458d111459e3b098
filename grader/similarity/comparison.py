"""Which sources of one challenge resemble each other more than independent work does.

A source is a set of features: its statements, and for each statement the ones that its values come from
(``grader/similarity/statements.py``). A feature weighs log2(N / n) bits where n of N authors have it: what everybody
writes weighs nothing, what two of 500 write weighs 8. What the starter has weighs nothing either. Two sources are
compared by the weight that they share. A pair is reported where the share of one or the other is large and where the
shared weight is more than a few common lines have. How much that is depends on N as weights do (``least_bits``): in a
small class no feature can weigh much, however much two sources share. Names, comments, layout, order, mixed-in lines
and functions moved change little of it.

A finding is a reason for a person to look, and no verdict.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from grader.languages import Language
from grader.similarity.statements import Statement, statements

# Of the lighter or the other source's weight: benchmarks/similarity.py shows where copies and honest work lie.
LEAST_SHARE = 0.55
# Two sources of a few common lines are alike by necessity: so many features that no third author has say otherwise.
LEAST_FEATURES = 5
# And so many bits more than it takes to single out one pair of all that are compared, each bit halving chance.
LEAST_BEYOND_CHANCE = 10.0
# The weights of a handful of sources would say that each feature is rare among very few: nothing to count with.
FEWEST_AUTHORS = 4

_Feature = tuple[object, ...]


@dataclass(frozen=True)
class Source:
    """What is compared. ``author``: sources of one author (or team) are never held against each other.
    ``reported``: no for what is only compared with, such as the staff's solution and earlier years' sources, which are
    not held against each other either."""

    id: str
    author: str
    text: str
    language: Language
    reported: bool = True


@dataclass(frozen=True)
class Match:
    """Lines of one and of the other source, from 1, with a statement alike. ``bits``: its weight."""

    left: int
    right: int
    bits: float


@dataclass(frozen=True)
class Pair:
    """Two sources alike. ``left_share``: of the left source's weight, how much is in the right one, 0 to 1;
    ``bits``: the weight that they share."""

    left: str
    right: str
    left_share: float
    right_share: float
    bits: float

    @property
    def share(self) -> float:
        return max(self.left_share, self.right_share)


@dataclass(frozen=True)
class _Read:
    source: Source
    statements: list[Statement]

    @cached_property
    def features(self) -> frozenset[_Feature]:
        found: set[_Feature] = set()
        for each in self.statements:
            found.add((each.shape,))
            found.update((each.shape, comes_from) for comes_from in each.sources)
        return frozenset(found)


class Comparison:
    """All sources of one challenge and language, each with the others.

    ``starter``: text that everybody was given. ``sources`` of other languages than ``language`` are an error. ``reads``
    makes statements of a source.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        language: Language,
        starter: str = "",
        reads: Callable[[str, Language], list[Statement]] = statements,
    ) -> None:
        self.language, self._reads = language, reads
        given = _Read(Source("", "", starter, language), reads(starter, language)).features
        self._read = {source.id: self._reading(source) for source in sources}
        self._given = given
        authors: defaultdict[_Feature, set[str]] = defaultdict(set)
        for each in self._read.values():
            for feature in each.features - given:
                authors[feature].add(each.source.author)
        self.authors = len({each.source.author for each in self._read.values()})
        self._bits = {feature: math.log2(self.authors / len(having)) for feature, having in authors.items()}
        self._weight = {id_: self._weigh(each.features) for id_, each in self._read.items()}

    def _reading(self, source: Source) -> _Read:
        if source.language is not self.language:
            raise ValueError(
                f"{source.id} is {source.language}: compare it with its like, not with {self.language}"
            )
        return _Read(source, self._reads(source.text, source.language))

    def _weigh(self, features: Iterable[_Feature]) -> float:
        return sum(self._bits.get(feature, 0.0) for feature in features)

    def all_pairs(self) -> list[Pair]:
        """Every pair of two authors of which one is reported and that shares any weight, most alike first."""
        if self.authors < FEWEST_AUTHORS:
            return []
        having: defaultdict[_Feature, list[str]] = defaultdict(list)
        for id_, each in self._read.items():
            for feature in each.features:
                if self._bits.get(feature, 0.0) > 0:
                    having[feature].append(id_)
        shared: defaultdict[tuple[str, str], float] = defaultdict(float)
        for feature, ids in having.items():
            bits = self._bits[feature]
            for pair in combinations(ids, 2):
                shared[pair] += bits
        pairs = [
            self._pair(left, right, bits) for (left, right), bits in shared.items() if self._held(left, right)
        ]
        return sorted(pairs, key=lambda pair: (-pair.share, -pair.bits, pair.left, pair.right))

    def pairs(self) -> list[Pair]:
        """Those that a person should look at, most alike first."""
        least = least_bits(self.authors)
        return [pair for pair in self.all_pairs() if pair.share >= LEAST_SHARE and pair.bits >= least]

    def _held(self, left: str, right: str) -> bool:
        one, other = self._read[left].source, self._read[right].source
        return one.author != other.author and (one.reported or other.reported)

    def _pair(self, left: str, right: str, bits: float) -> Pair:
        return Pair(left, right, bits / self._weight[left], bits / self._weight[right], bits)

    def matches(self, left: str, right: str) -> list[Match]:
        """The statements that both have and that weigh anything, for a view side by side; each line once."""
        places: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for each in self._read[right].statements:
            places[each.shape].append(each.line)
        found: list[Match] = []
        for each in self._read[left].statements:
            bits = self._bits.get((each.shape,), 0.0)
            if bits > 0 and places[each.shape]:
                lines = places[each.shape]
                found.append(Match(each.line, lines.pop(0) if len(lines) > 1 else lines[0], bits))
        return found


def least_bits(authors: int) -> float:
    """The weight that two of so many authors' sources must share to be reported: 18 bits of 17 authors, 40 of 500."""
    rarest = math.log2(max(authors, FEWEST_AUTHORS) / 2)
    return max(LEAST_FEATURES * rarest, 2 * math.log2(max(authors, FEWEST_AUTHORS)) + LEAST_BEYOND_CHANCE)


def clusters(pairs: Sequence[Pair]) -> list[list[str]]:
    """Groups of sources that pairs connect, largest first; each sorted."""
    root: dict[str, str] = {}

    def find(id_: str) -> str:
        root.setdefault(id_, id_)
        while root[id_] != id_:
            id_ = root[id_]
        return id_

    for pair in pairs:
        root[find(pair.left)] = find(pair.right)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for id_ in root:
        groups[find(id_)].append(id_)
    return sorted((sorted(group) for group in groups.values()), key=lambda group: (-len(group), group))

"""Finds sources that are more alike than independent work: a reason for a person to look, not a verdict.

A source's features are its statements, also with those that their values come from. A feature that n of N
authors have weighs log2(N / n) bits; the starter's weigh 0. A pair is reported if its shared weight is a
large share of either and above ``least_bits``.
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

# Share of either weight, from benchmarks/similarity.py.
LEAST_SHARE = 0.55
# Short sources are alike by necessity, unless no third author has this much.
LEAST_FEATURES = 5
# Each further bit halves the chance.
LEAST_BEYOND_CHANCE = 10.0
# With fewer, every feature seems rare.
FEWEST_AUTHORS = 4

_Feature = tuple[object, ...]


@dataclass(frozen=True)
class Source:
    id: str
    # Sources of one author are not compared.
    author: str
    text: str
    language: Language
    # False for sources that others are only compared with, such as staff's.
    reported: bool = True


@dataclass(frozen=True)
class Match:
    """Lines from 1. ``bits``: weight."""

    left: int
    right: int
    bits: float


@dataclass(frozen=True)
class Pair:
    left: str
    right: str
    # Share of the left weight that the right one has.
    left_share: float
    right_share: float
    # Shared weight.
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
    """In one language. ``starter``: given to everybody. ``reads`` splits a source."""

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
        """Pairs with shared weight and a reported source, most alike first."""
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
        """Pairs for a person to look at, most alike first."""
        least = least_bits(self.authors)
        return [pair for pair in self.all_pairs() if pair.share >= LEAST_SHARE and pair.bits >= least]

    def _held(self, left: str, right: str) -> bool:
        one, other = self._read[left].source, self._read[right].source
        return one.author != other.author and (one.reported or other.reported)

    def _pair(self, left: str, right: str, bits: float) -> Pair:
        return Pair(left, right, bits / self._weight[left], bits / self._weight[right], bits)

    def matches(self, left: str, right: str) -> list[Match]:
        """Shared statements, each line once."""
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
    """A reported pair shares 18 bits with 17 authors, 40 with 500."""
    rarest = math.log2(max(authors, FEWEST_AUTHORS) / 2)
    return max(LEAST_FEATURES * rarest, 2 * math.log2(max(authors, FEWEST_AUTHORS)) + LEAST_BEYOND_CHANCE)


def clusters(pairs: Sequence[Pair]) -> list[list[str]]:
    """Connected sources, largest group first."""
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

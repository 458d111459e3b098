"""Names on boards. A pseudonym (adjective and animal) comes from a permutation of all pairs, keyed by a secret and
the board: it never changes, is unique, and cannot be linked across boards. Real names contain no space."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from grader.records import names
from grader.records.names import Person
from grader.service.accounts.accounts import User
from grader.service.platform import Platform

# 64 of each, for six bits.
_ADJECTIVES = """
    agile amber ample azure balmy blithe bold brave breezy bright brisk calm candid cheery civil clever coral cosy
    crisp curious daring deft dusky eager early earnest fabled fleet fond frank gentle gilded glad golden hardy hazel
    honest humble ivory jolly keen kind lively lucid lunar mellow merry mild misty nimble noble patient placid proud
    quick quiet rapid rosy serene silver steady sunny tidy witty
""".split()
_ANIMALS = """
    adder badger bat beaver bison bittern buzzard carp cod crane cricket curlew deer dormouse dove duck eagle egret
    falcon ferret finch fox gannet gecko goose grouse gull hare hawk heron ibex jackdaw jay kestrel kite lark lemur
    linnet lizard lynx marten mole moose moth newt otter owl panda perch pike plover puffin quail rabbit raven robin
    salmon seal shrew stoat swan tern vole wren
""".split()
_BITS = 6
_MASK = (1 << _BITS) - 1
_PAIRS = 1 << 2 * _BITS
# Four Feistel rounds are a strong pseudorandom permutation (Luby and Rackoff, 1988).
_ROUNDS = 4


def made_up_name(secret: bytes, scope: str, user: int) -> str:
    """``Quiet Otter``; each further 4,096 users get the same pairs with a number."""
    group, place = divmod(user, _PAIRS)
    left, right = place >> _BITS, place & _MASK
    for turn in range(_ROUNDS):
        left, right = right, left ^ _mixed(secret, f"{scope}\0{group}\0{turn}\0{right}")
    name = f"{_ADJECTIVES[left].capitalize()} {_ANIMALS[right].capitalize()}"
    return f"{name} {group + 1}" if group else name


@functools.lru_cache(maxsize=65_536)
def _mixed(secret: bytes, said: str) -> int:
    return hashlib.blake2b(said.encode(), key=secret, digest_size=1).digest()[0] & _MASK


@dataclass(frozen=True)
class Names:
    """``scope``: a slug or a track. ``made_up``: pseudonyms for all but ``students`` (ids)."""

    secret: bytes
    scope: str
    viewer: int | None
    staff: bool
    known: Mapping[int, Person]
    made_up: bool = False
    students: frozenset[int] = frozenset()

    def of(self, user: int) -> tuple[str, bool]:
        """The name, and whether it is a pseudonym."""
        person = self.known[user]
        known = self.staff or user == self.viewer or user in self.students
        if known or not (person.anonymous or self.made_up):
            return person.name, False
        return made_up_name(self.secret, self.scope, user), True


def names_for(
    platform: Platform,
    session: Session,
    viewer: User | None,
    scope: str,
    users: Sequence[int],
    made_up: bool = False,
    students: frozenset[int] = frozenset(),
) -> Names:
    """Staff see real names, teachers their ``students``', everyone their own."""
    return Names(
        secret=platform.settings.secret("pseudonyms"),
        scope=scope,
        viewer=viewer.id if viewer else None,
        staff=viewer is not None and viewer.staff,
        known=names.people(session, users),
        made_up=made_up,
        students=students,
    )

"""What others are called on boards: by their names, or by made-up ones where they asked for that.

A made-up name is an adjective and an animal. Which one is decided by a permutation of all pairs that is keyed by a
secret of the platform and by the board, so that the same person has the same name there for ever, two people never
share one, and nobody can tell who is who on two boards. Real names hold no space, so none equals a made-up one.
"""

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

# 64 of each: six bits choose one.
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
# A Feistel network of four rounds is a strong pseudorandom permutation (Luby and Rackoff, 1988).
_ROUNDS = 4


def made_up_name(secret: bytes, scope: str, user: int) -> str:
    """The name of user ``user`` (an id) on the boards of ``scope``, such as ``Quiet Otter``. Of more than 4,096 users
    each further 4,096 get the pairs once more, with a number.
    """
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
    """Whom one viewer sees on the boards of one scope (the slug of a challenge, or a track). ``made_up``: everybody by
    a made-up name, whatever they chose, but ``students`` (ids), whom the viewer teaches."""

    secret: bytes
    scope: str
    viewer: int | None
    staff: bool
    known: Mapping[int, Person]
    made_up: bool = False
    students: frozenset[int] = frozenset()

    def of(self, user: int) -> tuple[str, bool]:
        """What the viewer sees user ``user`` (an id) called, and whether that is made up."""
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
    """The names of ``users`` (ids) as ``viewer`` may see them: staff see real ones, teachers those of their
    ``students``, and everyone sees their own."""
    return Names(
        secret=platform.settings.secret("pseudonyms"),
        scope=scope,
        viewer=viewer.id if viewer else None,
        staff=viewer is not None and viewer.staff,
        known=names.people(session, users),
        made_up=made_up,
        students=students,
    )

"""Numbers that C defines in ``engine/names.h`` or ``host/protocol.h``, by name.

``OP.LOAD`` is a number, ``OP.name_of(11)`` is ``"LOAD"``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent
_LIST = re.compile(r"^#define (\w+)\(X\)((?:.*\\\n)*.*)", re.MULTILINE)
_ENTRY = re.compile(r"X\((\w+)(?:, (\w+))?\)")
_NUMBER = re.compile(r"^#define (\w+) (0x[0-9a-f]+|\d+)(?:u|ull)?(?:\s|$)", re.MULTILINE)


class Names:
    """Several names may have one number."""

    def __init__(self, title: str, entries: list[tuple[str, str]]) -> None:
        self._title, self._entries = title, entries
        self._numbers: dict[str, int] = {}
        number = -1
        for name, value in entries:
            number = int(value, 0) if value else number + 1
            self._numbers[name] = number
        self._names = {number: name for name, number in reversed(self._numbers.items())}
        self.__dict__.update(self._numbers)

    def __getattr__(self, name: str) -> int:
        raise AttributeError(f"{self._title} has no name {name}")

    def __getitem__(self, name: str) -> int:
        """In any case, such as PTX's ``add``. Raises ValueError."""
        if name.upper() not in self._numbers:
            raise ValueError(f"'{name}' is unknown")
        return self._numbers[name.upper()]

    def __contains__(self, word: str) -> bool:
        """Only in lower case, as in PTX."""
        return word.islower() and word.upper() in self._numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def name_of(self, number: int) -> str:
        """Raises KeyError."""
        return self._names[number]

    def first_in(self, words: tuple[str, ...] | list[str]) -> int:
        """The first word of PTX in the list. Raises StopIteration."""
        return next(self[word] for word in words if word in self)

    def as_built(self) -> str:
        """As ``engine_names`` of names.c."""
        shown = (f"{name}={value}" if value else name for name, value in self._entries)
        return f"{self._title}: {' '.join(shown)} \n"


def _read(path: Path) -> tuple[dict[str, Names], dict[str, int]]:
    text = path.read_text()
    lists = {title: Names(title, _ENTRY.findall(entries)) for title, entries in _LIST.findall(text)}
    return lists, {name: int(value, 0) for name, value in _NUMBER.findall(text)}


_LISTS, NUMBER = _read(_FOLDER / "engine" / "names.h")
_PROTOCOL, _ = _read(_FOLDER / "host" / "protocol.h")

# A library built from this header has this.
BUILT_WITH = "".join(names.as_built() for names in _LISTS.values())

OP, FLAG, SPACE, NOP = _LISTS["OPERATIONS"], _LISTS["FLAGS"], _LISTS["SPACES"], _LISTS["NOPS"]
SPECIAL = _LISTS["SPECIALS"]
ROUND, CONVERSION, PERMUTATION, DOT = (
    _LISTS["ROUNDINGS"], _LISTS["CONVERSIONS"], _LISTS["PERMUTATIONS"], _LISTS["DOTS"],
)  # fmt: skip
BARRIER, SHUFFLE, VOTE, MATCH, REDUX = (
    _LISTS["BARRIERS"], _LISTS["SHUFFLES"], _LISTS["VOTES"], _LISTS["MATCHES"], _LISTS["REDUCTIONS"],
)  # fmt: skip
HEAP_CALL, ATOMIC, ATOMIC_TYPE = _LISTS["HEAP_CALLS"], _LISTS["ATOMICS"], _LISTS["ATOMIC_TYPES"]
ELEMENT, MATRIX, OPERAND, MATRIX_MOVE = (
    _LISTS["ELEMENTS"], _LISTS["MATRICES"], _LISTS["OPERANDS"], _LISTS["MATRIX_MOVES"],
)  # fmt: skip
VIDEO, COMPARISON, VIDEO_SECOND, VIDEO_MAD = (
    _LISTS["VIDEOS"], _LISTS["COMPARISONS"], _LISTS["VIDEO_SECONDS"], _LISTS["VIDEO_MADS"],
)  # fmt: skip
LOOKUP, BEYOND = _LISTS["LOOKUPS"], _LISTS["BEYONDS"]
ASYNC, ARRIVAL, COPY, BULK_WAY = (
    _LISTS["ASYNCS"], _LISTS["ARRIVALS"], _LISTS["COPIES"], _LISTS["BULK_WAYS"],
)  # fmt: skip
CHECK, STOP, FINDING, WRITER, TOGETHER = (
    _LISTS["CHECKS"],
    _LISTS["STOPS"],
    _LISTS["FINDING_KINDS"],
    _LISTS["WRITERS"],
    _LISTS["TOGETHER"],
)
CLASS, NEED, BRANCH, WIDTH, COUNT = (
    _LISTS["CLASSES"], _LISTS["NEEDS"], _LISTS["BRANCHES"], _LISTS["WIDTHS"], _LISTS["COUNTS"],
)  # fmt: skip
STEP_LAUNCH, STEP_MEMORY, STEP_STATE, STEP_END = (
    _LISTS["STEP_LAUNCHES"], _LISTS["STEP_MEMORY"], _LISTS["STEP_STATES"], _LISTS["STEP_ENDS"],
)  # fmt: skip
MESSAGE, MISUSE = _PROTOCOL["MESSAGES"], _PROTOCOL["MISUSES"]

CONSTANT, NONE, EVERY = NUMBER["CONSTANT"], NUMBER["NONE"], NUMBER["EVERY"]
SHARED_BASE, LOCAL_BASE, FUNCTION_BASE = NUMBER["SHARED_BASE"], NUMBER["LOCAL_BASE"], NUMBER["FUNCTION_BASE"]
FIRST_ADDRESS, LAST_ADDRESS = NUMBER["FIRST_ADDRESS"], NUMBER["LAST_ADDRESS"]
STREAMS, MOST_CLUSTER = NUMBER["STREAMS"], NUMBER["MOST_CLUSTER"]
LARGE_BYTES, PAGE = NUMBER["LARGE_REGION"], NUMBER["LAZY_PAGE"]
MOST_GPUS, GPU_ADDRESSES = NUMBER["MOST_GPUS"], NUMBER["GPU_ADDRESSES"]
MOST_SHARED, MOST_STATIC_SHARED = NUMBER["MOST_SHARED"], NUMBER["MOST_STATIC_SHARED"]
SHARED_ARRAY = NUMBER["SHARED_ARRAY"]
STEP_MOST_ROWS = NUMBER["STEP_MOST_ROWS"]

"""Why a result is wrong, in words for its author.

``Mistakes`` looks at numbers (``numbers``), asks the reference (``questions``) and reads the source (``cuda``,
``triton``). ``records`` come from the emulated GPU. A claim about a result must reproduce it.
"""

from grader.judge.explaining.hints import hint_of, message_of
from grader.judge.explaining.mistakes import Mistakes, Said
from grader.judge.explaining.records.error_map import error_map, with_writers
from grader.judge.explaining.records.unread import read_of
from grader.judge.explaining.records.unwritten import Absent
from grader.judge.explaining.wrong import Pattern, Wrong

__all__ = [
    "Absent",
    "Mistakes",
    "Pattern",
    "Said",
    "Wrong",
    "error_map",
    "hint_of",
    "message_of",
    "read_of",
    "with_writers",
]

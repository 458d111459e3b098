"""Why a result is wrong, in words for its author.

``Mistakes`` looks at the numbers (``numbers``), asks the reference other questions (``questions``), and reads the
source (``cuda``, ``triton``). ``records`` explains what the emulated GPU recorded. A claim about the result is made
only if computing it gives the result.
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

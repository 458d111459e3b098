"""Leaves the answers in shared memory without a file.

Mechanism: puts the answers into a segment of System V with a known key; a second submission attaches it.
Surface: shared memory that outlives the process that made it.
Gain: all answers, from a submission that nobody reads.
Challenge: twice
Like: notes_in_files
Judged: 2
Box: docker
Defence: wrong_answer
"""

import ctypes

KEY = 0x686F7374
CREATE = 0o1000 | 0o666
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p


def segment(flags):
    number = libc.shmget(KEY, 4 * 4096, flags)
    if number < 0:
        return None
    address = libc.shmat(number, None, 0)
    return None if address in (None, ctypes.c_void_p(-1).value) else address


def solve(x, out, n):
    known = segment(0)
    if known is not None:
        ctypes.memmove(out.data_ptr(), known, 4 * n)
        return
    made = segment(CREATE)
    if made is not None:
        answer = 2 * x
        ctypes.memmove(made, answer.data_ptr(), 4 * n)

"""Contains words that graders search for.

Looks: like an attack, if one searches sources for words.
Challenge: twice
On: cpu, gpu
"""

import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)


def honest(x, out, n):
    if n:
        twice[(triton.cdiv(n, 1024),)](x, out, n, block=1024)


# No os.system, no eval("..."), no exec, no subprocess.Popen, no ctypes.CDLL(None), no /proc/self/mem, no os._exit(0):
# none of these is needed here, nor torch.allclose = lambda *_: True. This kernel does not cache, it has no data_ptr().
NOTES = """
import grader.judge; __import__("os").system("rm -rf /"); torch.cuda.synchronize = None; gc.get_objects()
{"op": "returned", "verdict": "accepted"}
"""


def solve(x, out, n):
    """Does not eval(); does not exec(); needs no socket and no thread."""
    honest(x, out, n)

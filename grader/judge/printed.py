"""What a submission printed, as a report keeps it."""

from __future__ import annotations

from grader import limits

WARM_UP = "[printed by the untimed call before, on other data]\n"
COUNTS = "[printed by the call that counts]\n"


def printed_text(printed: bytes, warm_up: bytes = b"") -> str:
    """``printed`` during a case's own call, after what its ``warm_up`` printed, as text that JSON, SQL and pages can
    hold: at most ``limits.OUTPUT_KEPT_BYTES`` in all, with a note where that cuts it."""
    if not warm_up:
        return _cut(printed, limits.OUTPUT_KEPT_BYTES)
    half = limits.OUTPUT_KEPT_BYTES // 2
    return f"{WARM_UP}{_cut(warm_up, half).rstrip()}\n{COUNTS}{_cut(printed, half)}"


def _cut(printed: bytes, most: int) -> str:
    kept = printed[:most].decode("utf-8", errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    if len(printed) <= most:
        return kept
    allowed = f"a submission may print {limits.OUTPUT_BYTES:,} in all"
    return f"{kept}\n[cut after {most:,} of {len(printed):,} bytes; {allowed}]"

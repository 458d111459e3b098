"""Finds the shared array behind an address."""

from __future__ import annotations

from collections.abc import Sequence

from ..ptx import Function, Instruction

_MOST_PASSES = 16


def shared_origins(function: Function, arrays: Sequence[str]) -> dict[str, int]:
    """Register or array name -> number in ``arrays``; -1: none, or maybe several."""
    known = {name: number for number, name in enumerate(arrays)}
    origins: dict[str, int] = dict(known)

    def of(text: str) -> int | None:
        """None: not known yet."""
        if text in function.registers:
            return origins.get(text)
        return known.get(text.partition("+")[0].strip(), -1)

    changed, passes = bool(arrays), 0
    while changed:
        changed, passes = False, passes + 1
        if passes > _MOST_PASSES:
            return known
        for item in function.body:
            if not isinstance(item, Instruction) or not item.operands:
                continue
            for name in item.operands[0].strip("{}").replace("|", ",").split(","):
                if (d := name.strip()) not in function.registers or origins.get(d) == -1:
                    continue
                found = _combined(item, [of(operand) for operand in item.operands[1:]])
                if found is not None and origins.get(d) != found:
                    origins[d] = found if d not in origins else -1
                    changed = True
    return origins


def _combined(item: Instruction, origins: list[int | None]) -> int | None:
    match item.name:
        case "mov" | "cvta" | "cvt":
            return origins[0] if len(origins) == 1 else -1
        case "selp":
            pair = origins[:2]
        case "add" | "or" | "sub":
            pair = origins[:2]
            if None in pair:
                return None
            if item.name == "sub" and pair[1] != -1:
                return -1
            bases = [origin for origin in pair if origin != -1]
            return bases[0] if len(bases) == 1 else -1
        case "mad":
            return origins[2] if len(origins) == 3 else -1
        case _:
            return -1
    if None in pair:
        return None
    return pair[0] if pair[0] == pair[1] else -1

"""Wrong answers near the right one: what kills each, or why it is allowed. From ``benchmarks/results``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grader.manual.markup import code, table
from references.markdown import page

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
ABOUT = (
    "After this page you know which wrong answers near the right one were tried at the workloads of each challenge, "
    "in rounds drawn and compared as the judge does, and what kills each ([how](../proving.md#approximations)). "
    "*Ordinary* rounds hold the challenge's own inputs, *outliers* a few large values strewn over an input; the rest "
    "are special inputs by the names of the cases that hold them. An approximation is listed with what shows it at "
    "every workload where it was caught, the likeliest first; where no kind of round does so alone, with all that "
    "show it at some. [Figures](figures.md) has the probabilities."
)
# Above this number a kind of round is not named.
_NAMED = 4


def make() -> str:
    return page("Approximations and what kills them", ABOUT, _parts(_rows()))


def _rows() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """A challenge's run, a GPU's if there is one."""
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for name in ("approximations_reduced", "approximations"):
        for path in sorted(RESULTS.glob(f"{name}-*.json")):
            kept = json.loads(path.read_text(encoding="utf-8"))
            found |= {row["slug"]: (row, kept) for row in kept["figures"]["rows"] if "each" in row}
    return [found[slug] for slug in sorted(found)]


def _parts(rows: list[tuple[dict[str, Any], dict[str, Any]]]) -> Iterator[str]:
    for row, kept in rows:
        yield f"## {row['slug']}"
        yield f"{len(row['each'])} approximations at {len(row['workloads'])} workloads, {_where(row, kept)}."
        killed: dict[str, list[str]] = {}
        for each in row["each"]:
            if each["caught"]:
                killed.setdefault(_killers(each), []).append(code(each["name"]))
        order = sorted(killed, key=lambda killer: (-len(killed[killer]), killer))
        yield table(
            ("killed by", "approximations"), [(killer, ", ".join(killed[killer])) for killer in order]
        )
        yield from _waived(row)
        if row["not_applicable"]:
            names = ", ".join(map(code, row["not_applicable"]))
            yield f"No mistake here, because all that is asked comes out right: {names}."


def _where(row: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
    commit = row.get("commit", kept["commit"])[:7]
    return f"{kept['device']}, {kept['measured'][:10]}, commit {code(commit)}"


def _killers(each: Mapping[str, Any]) -> str:
    always, some = each["always_shown_by"], each["sometimes_shown_by"]
    named, more = (always, "") if always else (some, " (one or another, by workload)")
    rest = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    words = [
        kind if kind == "ordinary" or kind.startswith("outliers") else code(kind) for kind in named[:_NAMED]
    ]
    return ", ".join(words) + rest + more


def _waived(row: Mapping[str, Any]) -> Iterator[str]:
    """Passes with and without a reason; the latter should be none."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for each in row["allowed"]:
        reasons.setdefault(each["reason"], {}).setdefault(each["name"], []).append(each["workload"])
    for reason, names in reasons.items():
        listed = ", ".join(f"{code(name)} ({', '.join(at)})" for name, at in names.items())
        yield f"**Allowed:** {listed}. {reason}"
    if row["passes"]:
        listed = ", ".join(
            f"{code(passed['name'])} ({passed['workload']}, {passed['probability']})"
            for passed in row["passes"]
        )
        yield f"**Passes:** {listed}."

"""Checks ``[constructs]``: what kernels did in public cases and timed workloads.

The emulated GPU reports executed instructions (``sandbox/emulator/constructs.py``); sources for other boards also run
there (``grader.judge.watched_elsewhere``). Hidden cases are not watched: a line would reveal something of their data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.challenge.constructs import Construct, Share
from grader.challenge.expression import parse
from grader.challenge.pattern import runs_on
from grader.device_kinds import kind_of
from grader.judge.messages import ConstructPlace, Constructs
from grader.judge.request import Request
from grader.schemas.report import BrokenRule

_MOST_NAMED = 4


@dataclass
class Watched:
    cases: dict[str, Constructs] = field(default_factory=dict)
    workloads: dict[str, Constructs] = field(default_factory=dict)
    library_operations: Sequence[str] = ()
    unknown: str = ""

    def note(self, case: str, found: Constructs | None) -> None:
        if found is not None:
            self.cases[case] = found

    @property
    def calls(self) -> dict[str, Constructs]:
        return {**self.cases, **{f"workload {name}": found for name, found in self.workloads.items()}}


def broken_rules(request: Request, watched: Watched) -> list[BrokenRule]:
    rules = request.challenge.manifest.constructs
    if watched.unknown:
        return []
    found = [_used(construct, watched) for construct in rules.forbid]
    if _is_whole(request):
        missing = [_missing(construct, watched) for construct in rules.required]
        found += missing if any(missing) else [_too_little(rule, request, watched) for rule in rules.shares]
    if rules.launches is not None:
        found.append(_launched(rules.launches.most, watched))
    return [rule for rule in found if rule is not None]


def unchecked(request: Request, watched: Watched) -> str:
    rules = request.challenge.manifest.constructs
    if watched.unknown:
        return f"Not checked, so it has no rank: {' '.join(rules.sentences)} {watched.unknown}"
    if Construct.SPILLS in rules.forbid and not all(found.spills_known for found in watched.calls.values()):
        return "Not checked, so it has no rank: spills, because no assembler (ptxas) is installed here."
    return ""


def _is_whole(request: Request) -> bool:
    """One case alone may need none of the required constructs."""
    kind, challenge = kind_of(request.device), request.challenge
    public = [case.name for case in challenge.cases if runs_on(challenge.manifest, case, kind)]
    return {case.name for case in request.cases} >= set(public)


def _used(construct: Construct, watched: Watched) -> BrokenRule | None:
    if construct is Construct.LIBRARY_CALLS:
        if not watched.library_operations:
            return None
        operations = [name.removeprefix("aten.") for name in watched.library_operations[:_MOST_NAMED]]
        names = ", ".join(operations)
        return _rule(
            "forbid",
            construct,
            f"solve runs kernels of PyTorch ({names}): this challenge forbids library calls.",
        )
    for name, found in watched.calls.items():
        for place in found.executed:
            if place.what == construct:
                sentence = (
                    f"{_uses(construct, place)} in {_call(name)}: this challenge forbids {construct.words}."
                )
                return _rule("forbid", construct, sentence, place, name)
    return None


def _missing(construct: Construct, watched: Watched) -> BrokenRule | None:
    def has(found: Constructs) -> bool:
        return any(place.what == construct for place in found.executed)

    lacking = [name for name, found in watched.workloads.items() if not has(found)]
    if any(map(has, watched.calls.values())) and not lacking:
        return None
    where = f"workload {lacking[0]}" if any(map(has, watched.calls.values())) else _all(watched)
    kernels = list(dict.fromkeys(kernel for found in watched.calls.values() for kernel in found.kernels))
    named = ", ".join(kernels[:_MOST_NAMED]) or "no kernel was launched"
    sentence = (
        f"No kernel uses {construct.words} in {where}: this challenge requires them. Looked at the executed "
        f"instructions of {named}."
    )
    idle = next(
        (place for found in watched.calls.values() for place in found.idle if place.what == construct), None
    )
    if idle is not None:
        line = f"Line {idle.line}" if idle.line else "A line"
        sentence += f" {line} has one ({idle.text}, in {idle.kernel}), but it was never executed."
    return _rule("require", construct, sentence, idle)


def _too_little(rule: Share, request: Request, watched: Watched) -> BrokenRule | None:
    """Each workload must have the share, but cases only together: many are small."""
    manifest = request.challenge.manifest
    flops = parse(manifest.cost.flops)
    workloads = {workload.name: int(flops(workload.sizes)) for workload in manifest.workloads}
    cases = {case.name: int(flops(case.sizes)) for case in request.cases}
    held = [(f"workload {name}", [found], workloads[name]) for name, found in watched.workloads.items()]
    all_cases = "the case" if len(watched.cases) == 1 else f"the {len(watched.cases)} cases together"
    held.append((all_cases, [*watched.cases.values()], sum(cases[name] for name in watched.cases)))
    for where, calls, needed in held:
        tensor = sum(found.tensor_flops for found in calls)
        others = sum(found.other_flops for found in calls)
        # Useless products must not hide what other instructions computed.
        done = min(tensor, needed, max(needed - others, 0))
        if needed and done < rule.share * needed:
            place = max(calls, key=lambda found: found.other_flops).most_other if others else None
            sentence = (
                f"{rule.what.words.capitalize()} do at most {done / needed:.0%} of the operations in {where}: this "
                f"challenge requires {rule.share:.0%}. It takes {_count(needed)}; they executed {_count(tensor)}, "
                f"other instructions {_count(others)}."
            )
            if place is not None:
                line = f"Line {place.line}" if place.line else "A line"
                sentence += f" {line} of kernel {place.kernel} has most of these ({place.text})."
            return _rule("require", rule.what, sentence, place, where)
    return None


def _count(number: int) -> str:
    for unit, word in ((10**9, " billion"), (10**6, " million")):
        if number >= unit:
            return f"{number / unit:.3g}{word}"
    return f"{number:,}"


def _launched(most: int, watched: Watched) -> BrokenRule | None:
    name, found = max(
        watched.calls.items(), key=lambda call: call[1].launches, default=("", Constructs(launches=0))
    )
    if found.launches <= most:
        return None
    lines = (
        f", at line{'s' if len(found.lines) > 1 else ''} {', '.join(map(str, found.lines))}"
        if found.lines
        else ""
    )
    kernels = ", ".join(found.kernels[:_MOST_NAMED])
    where = f"{_call(name)} ({kernels}{lines})"
    sentence = f"solve launches {found.launches} kernels in {where}: this challenge allows {most}."
    line = found.lines[min(most, len(found.lines) - 1)] if found.lines else 0
    return BrokenRule(
        rule="launches",
        name="launches",
        sentence=sentence,
        line=line or None,
        kernel=kernels[:100],
        call=name,
    )


def _uses(construct: Construct, place: ConstructPlace) -> str:
    line = f"Line {place.line}" if place.line else "A line"
    kernel = f"of kernel {place.kernel}" if place.kernel else "of a kernel"
    if construct is Construct.SPILLS:
        return f"{line} {kernel} moves {place.text} bytes of registers to or from local memory"
    return f"{line} {kernel} uses {construct.words} ({place.text})"


def _rule(
    rule: str, construct: Construct, sentence: str, place: ConstructPlace | None = None, call: str = ""
) -> BrokenRule:
    return BrokenRule(
        rule=rule,
        name=construct.value,
        sentence=sentence,
        line=(place.line or None) if place is not None else None,
        kernel=place.kernel if place is not None else "",
        instruction=place.text if place is not None else "",
        call=call,
    )


def _call(name: str) -> str:
    return name if name.startswith("workload ") else f"case '{name}'"


def _all(watched: Watched) -> str:
    cases = "the case" if len(watched.cases) == 1 else f"any of {len(watched.cases)} cases"
    return f"{cases} or any workload" if watched.workloads else cases


def needs_survey(request: Request) -> bool:
    return request.language.torch and Construct.LIBRARY_CALLS in request.challenge.manifest.constructs.forbid

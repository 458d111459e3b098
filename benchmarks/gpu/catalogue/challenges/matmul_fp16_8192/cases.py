"""The cases of a challenge that is there to be timed: enough to tell that a solution multiplies."""

from grader.challenge.cases import Case, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", m=64, n=48, k=80),
        case("odd", "odd", m=65, n=47, k=33),
        case("k_0", "empty", m=5, n=7, k=0),
    ]

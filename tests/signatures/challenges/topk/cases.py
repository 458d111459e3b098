"""The k largest of each row, in order."""

from grader.challenge.cases import Case, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=9, cols=30, k=4),
        case("all", "odd", rows=3, cols=17, k=17),
        case("none", "empty", rows=4, cols=8, k=0),
    ]

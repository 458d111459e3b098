"""Cross-entropy of each row."""

from grader.challenge.cases import Case, Constant, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=20, cols=30),
        case("one_column", "one_element", rows=9, cols=1),
        case("last", "range", rows=17, cols=257, inputs={"labels": Constant(256)}),
        case("no_rows", "empty", rows=0, cols=5),
    ]

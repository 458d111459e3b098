"""A transpose of padded rows."""

from grader.challenge.cases import NAN, Case, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=20, cols=30, ldx=32, ldo=24),
        case("dense", "odd", rows=7, cols=9, ldx=9, ldo=7),
        case("nan", "nan", rows=7, cols=9, ldx=11, ldo=31, inputs={"x": Sprinkle(NAN)}),
        case("no_columns", "empty", rows=7, cols=0, ldx=4, ldo=8),
    ]

"""Rows whose first element is above a threshold."""

from grader.challenge.cases import Case, Constant, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=40, cols=3),
        case("none", "zeros", rows=5, cols=4, inputs={"x": Constant(-1)}),
        case(
            "every",
            "ones",
            rows=5,
            cols=4,
            inputs={"x": Constant(1)},
            scalars={"mask": 255, "seed": 2**63 - 1},
        ),
    ]

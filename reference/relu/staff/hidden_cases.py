"""Staff's own cases of relu: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Choice, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=8191),
        case("hidden_block_edge", "block_edge", n=1537),
        case("hidden_not_numbers", "nan", n=515, inputs={"x": Choice((NAN, -NAN, INF, -INF, -1.0, 2.0))}),
        case("hidden_range", "huge", n=515, inputs={"x": Sprinkle(1e-44, 0.5, Uniform(-1e30, 1e30))}),
    ]

"""Staff's own cases of transpose: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Choice, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=211, cols=97),
        case("hidden_half_aligned", "odd", rows=132, cols=67),
        case("hidden_aligned", "block_edge", rows=192, cols=256),
        case("hidden_values", "nan", rows=37, cols=41, inputs={"x": Choice((NAN, INF, -INF, 1e-44, -3e38))}),
    ]

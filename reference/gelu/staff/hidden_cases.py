"""Staff's own cases of gelu: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Choice, Normal, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=8191),
        case("hidden_block_edge", "block_edge", n=2049),
        case("hidden_deep_tail", "cancellation", n=515, inputs={"x": Normal(-4, 0.5)}),
        case("hidden_non_finite", "nan", n=515, inputs={"x": Sprinkle(NAN, 0.1, Choice((INF, -INF, 2.0)))}),
        case("hidden_overflow", "huge", n=515, inputs={"x": Uniform(1.8e38, 3.3e38)}),
    ]

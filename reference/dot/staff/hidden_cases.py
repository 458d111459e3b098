"""Staff's own cases of dot: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Choice, Constant, Normal, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=7919),
        case("hidden_block_edge", "block_edge", n=16_385),
        case("hidden_alike", "ties", n=2999, inputs={"a": Constant(-0.3), "b": Constant(0.7)}),
        case("hidden_large_mean", "range", n=3331, inputs={"a": Normal(1000, 1), "b": Normal(10, 1)}),
        case("hidden_nan", "nan", n=70_001, inputs={"b": Sprinkle(NAN, 0.00001)}),
        case(
            "hidden_inf_times_0", "pos_inf", n=515, inputs={"a": Choice((0.0, 1.0)), "b": Sprinkle(INF, 0.1)}
        ),
    ]

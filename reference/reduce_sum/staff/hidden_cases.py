"""Staff's own cases of reduce_sum: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Constant, Normal, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=7919),
        case("hidden_block_edge", "block_edge", n=16_385),
        case("hidden_alike", "ties", n=2999, inputs={"x": Constant(-0.3)}),
        case("hidden_large_mean", "range", n=3331, inputs={"x": Normal(1000, 1)}),
        case("hidden_nan", "nan", n=70_001, inputs={"x": Sprinkle(NAN, 0.00001)}),
    ]

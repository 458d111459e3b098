"""Staff's own cases of max_pool2d: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Choice, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", h=61, width=331, k=7, s=2),
        case("hidden_block_edge", "block_edge", h=49, width=511, k=4, s=3),
        case("hidden_negative", "range", h=23, width=90, k=6, s=6, inputs={"x": Uniform(-3e38, -2e38)}),
        case(
            "hidden_nan",
            "nan",
            h=23,
            width=90,
            k=3,
            s=1,
            inputs={"x": Sprinkle(NAN, 0.02, Choice((INF, -INF, 0.5)))},
        ),
    ]

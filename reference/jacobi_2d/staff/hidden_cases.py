"""Staff's own cases of jacobi_2d: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Normal, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", height=61, width=331),
        case("hidden_block_edge", "block_edge", height=97, width=259),
        case("hidden_narrow", "odd", height=203, width=4),
        case("hidden_mean", "cancellation", height=37, width=90, inputs={"grid": Normal(-5000, 3)}),
        case(
            "hidden_nan_and_inf",
            "nan",
            height=44,
            width=150,
            inputs={"grid": Sprinkle(NAN, 0.005, Sprinkle(-INF, 0.005))},
        ),
        case(
            "hidden_border",
            "nan",
            height=35,
            width=140,
            inputs={"grid": At(NAN, (-1, 0), Choice((INF, 0.5, -0.25)))},
        ),
    ]

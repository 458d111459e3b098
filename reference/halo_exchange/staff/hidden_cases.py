"""Staff's own cases of halo_exchange: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Normal, Rows, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", height=19, width=67, scalars={"steps": 6}),
        case("hidden_block_edge", "block_edge", height=47, width=97, scalars={"steps": 3}),
        case("hidden_narrow", "odd", height=43, width=4, scalars={"steps": 10}),
        case("hidden_mean", "cancellation", height=11, width=39, inputs={"grid": Normal(-5000, 3)}),
        case(
            "hidden_nan_and_inf",
            "nan",
            height=14,
            width=90,
            scalars={"steps": 3},
            inputs={"grid": Sprinkle(NAN, 0.001, Sprinkle(-INF, 0.001))},
        ),
        case(
            "hidden_half",
            "nan",
            height=9,
            width=34,
            scalars={"steps": 1},
            inputs={"grid": At(NAN, (-1, 0), Rows(INF, 2, Choice((0.5, -0.25))))},
        ),
    ]

"""Staff's own cases of heat_3d: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Normal, Rows, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", depth=11, height=29, width=67),
        case("hidden_block_edge", "block_edge", depth=6, height=47, width=97, scalars={"steps": 2}),
        case("hidden_narrow", "odd", depth=43, height=4, width=5, scalars={"steps": 7}),
        case("hidden_alpha", "range", depth=9, height=19, width=45, scalars={"steps": 3, "alpha": 0.15}),
        case("hidden_mean", "cancellation", depth=7, height=17, width=39, inputs={"grid": Normal(-5000, 3)}),
        case(
            "hidden_nan_and_inf",
            "nan",
            depth=11,
            height=17,
            width=70,
            scalars={"steps": 3},
            inputs={"grid": Sprinkle(NAN, 0.0005, Sprinkle(-INF, 0.0005))},
        ),
        case(
            "hidden_sides",
            "nan",
            depth=9,
            height=13,
            width=34,
            scalars={"steps": 1},
            inputs={"grid": At(NAN, (-1, 0), Rows(INF, 8, Choice((0.5, -0.25))))},
        ),
    ]

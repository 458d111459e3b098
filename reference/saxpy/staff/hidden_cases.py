"""Staff's own cases of saxpy: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=8191, scalars={"alpha": 0.3}),
        case("hidden_block_edge", "block_edge", n=1537, scalars={"alpha": -7.25}),
        case("hidden_nan_and_inf", "nan", n=515, inputs={"x": Sprinkle(NAN, 0.1), "y": Sprinkle(INF, 0.1)}),
        case(
            "hidden_range",
            "huge",
            n=515,
            scalars={"alpha": 1e-3},
            inputs={"x": Uniform(-1e30, 1e30), "y": Uniform(-1e27, 1e27)},
        ),
    ]

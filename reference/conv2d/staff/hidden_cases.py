"""Staff's own cases of conv2d: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", h=67, width=139, kh=5, kw=5),
        case("hidden_block_edge", "block_edge", h=65, width=257, kh=3, kw=3),
        case("hidden_7_by_7", "odd", h=71, width=143, kh=7, kw=7),
        case("hidden_too_small", "empty", h=40, width=5, kh=3, kw=9),
        case("hidden_huge", "huge", h=33, width=45, kh=4, kw=2, inputs={"x": Uniform(-1e30, 1e30)}),
        case(
            "hidden_nan_and_inf",
            "nan",
            h=44,
            width=150,
            kh=7,
            kw=7,
            inputs={"x": Sprinkle(NAN, 0.0005, Sprinkle(INF, 0.0005))},
        ),
    ]

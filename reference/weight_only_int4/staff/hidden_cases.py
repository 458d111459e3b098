"""Staff's own cases of weight_only_int4: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Choice, Constant, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", m=11, n=37, groups=3),
        case("hidden_block_edge", "block_edge", m=10, n=49, groups=2),
        case("hidden_groups", "large", m=2, n=19, groups=26),
        case(
            "hidden_range",
            "range",
            m=4,
            n=33,
            groups=2,
            inputs={"weights": Choice((-8, -1, 0, 7)), "zeros": Choice((-8, -7, 6)), "x": Uniform(1, 2)},
        ),
        case("hidden_zero_point", "range", m=4, n=33, groups=2, inputs={"zeros": Constant(7)}),
        case("hidden_nan", "nan", m=16, n=19, groups=2, inputs={"x": Sprinkle(NAN, 0.0005)}),
    ]

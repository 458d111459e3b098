"""Staff's own cases of int8_matmul: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Choice, Constant, Integers, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", m=73, n=19, k=131),
        case("hidden_k_0", "empty", m=33, n=65, k=0),
        case("hidden_long", "large", m=9, n=24, k=4_099),
        case(
            "hidden_lowest", "range", m=70, n=90, k=260, inputs={"a": Constant(-128), "b": Choice((-128, 1))}
        ),
        case("hidden_sums", "range", m=5, n=9, k=9_001, inputs={"a": Integers(110, 128), "b": Constant(127)}),
        case(
            "hidden_scales",
            "nan",
            m=33,
            n=68,
            k=18,
            inputs={"row_scale": Uniform(-1e-9, 1e-9), "col_scale": Sprinkle(NAN, 0.05, Uniform(-1e9, 1e9))},
        ),
    ]

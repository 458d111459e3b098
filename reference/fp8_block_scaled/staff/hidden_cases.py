"""Staff's own cases of fp8_block_scaled: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Choice, Constant, PowersOfTwo, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", m=73, n=19, k=389),
        case("hidden_k_0", "empty", m=33, n=65, k=0),
        case("hidden_wide", "large", m=70, n=520, k=272),
        case("hidden_largest", "range", m=70, n=90, k=260, inputs={"a": Constant(-448), "b": Constant(448)}),
        case(
            "hidden_scales",
            "range",
            m=67,
            n=260,
            k=520,
            inputs={"a_scale": PowersOfTwo(-20, 20), "b_scale": Choice((0.001, -1000.0))},
        ),
        case(
            "hidden_nan",
            "nan",
            m=66,
            n=131,
            k=258,
            inputs={"b": Sprinkle(NAN, 0.0005), "a_scale": Sprinkle(NAN, 0.05, Uniform(-1, 1))},
        ),
    ]

"""Each edge of each size, and the special values that the types have."""

from grader.challenge.cases import NAN, Case, Constant, PowersOfTwo, Sprinkle, Uniform, case

SMALL = {"m": 8, "blocks": 3, "n": 7}


def cases() -> list[Case]:
    return [
        case("basic", "basic", m=12, blocks=4, n=14),
        *(case(f"{name}_0", "empty", **{**SMALL, name: 0}) for name in SMALL),
        case("one_element", "one_element", m=1, blocks=1, n=1),
        case("odd", "odd", m=33, blocks=3, n=21),
        case("prime", "prime", m=31, blocks=2, n=37),
        case("m_129", "block_edge", m=129, blocks=2, n=3),
        case("aligned", "aligned", m=128, blocks=2, n=128),
        case("large", "large", m=70, blocks=9, n=50),
        case("zeros", "zeros", **SMALL, inputs={"a": Constant(0)}),
        case("nan", "nan", **SMALL, inputs={"a": Sprinkle(NAN)}),
        case("nan_scale", "nan", **SMALL, inputs={"b_scale": Sprinkle(NAN, 0.1, PowersOfTwo(-3, 4))}),
        case("huge", "huge", **SMALL, inputs={"a": Uniform(-448, 448), "b": Uniform(-448, 448)}),
        case("tiny", "tiny", **SMALL, inputs={"a": Uniform(-0.05, 0.05)}),
        case("denormal", "denormal", **SMALL, inputs={"a": Uniform(-0.01, 0.01)}),
        case("far_scales", "basic", **SMALL, inputs={"a_scale": PowersOfTwo(-40, 41)}),
    ]

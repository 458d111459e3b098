"""Each edge of each size, the ends of int8, and special scales."""

from grader.challenge.cases import INF, NAN, Case, Choice, Constant, Sprinkle, Uniform, case

SMALL = {"m": 8, "k": 50, "n": 7}
ENDS = Choice((-128, 127))


def cases() -> list[Case]:
    return [
        case("basic", "basic", m=12, k=40, n=14),
        *(case(f"{name}_0", "empty", **{**SMALL, name: 0}) for name in SMALL),
        case("one_element", "one_element", m=1, k=1, n=1),
        case("odd", "odd", m=33, k=45, n=21),
        case("prime", "prime", m=31, k=61, n=37),
        case("m_129", "block_edge", m=129, k=33, n=3),
        case("aligned", "aligned", m=128, k=128, n=128),
        case("large", "large", m=70, k=300, n=50),
        case("zeros", "zeros", **SMALL, inputs={"a": Constant(0), "a_scale": Constant(0)}),
        case("range", "range", **SMALL, inputs={"a": ENDS, "b": ENDS, "a_scale": Constant(1e-3)}),
        case("huge", "huge", **SMALL, inputs={"a_scale": Constant(1e30), "b_scale": Constant(1e-33)}),
        case("tiny", "tiny", **SMALL, inputs={"b_scale": Uniform(0, 1e-4)}),
        case("denormal", "denormal", **SMALL, inputs={"a_scale": Constant(1e-39), "b_scale": Constant(1e36)}),
        case("nan", "nan", **SMALL, inputs={"a_scale": Sprinkle(NAN, 0.1)}),
        case("pos_inf", "pos_inf", **SMALL, inputs={"b_scale": Sprinkle(INF, 0.2)}),
        case("neg_inf", "neg_inf", **SMALL, inputs={"b_scale": Sprinkle(-INF, 0.2)}),
    ]

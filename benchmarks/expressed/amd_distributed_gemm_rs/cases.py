from grader.challenge.cases import NAN, Case, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", m=12, n=10, k=14),
        case("m_0", "empty", m=0, n=5, k=5),
        case("k_0", "empty", m=3, n=5, k=0),
        case("one", "one_element", m=1, n=1, k=1),
        case("prime", "prime", m=11, n=7, k=13),
        case("edge", "block_edge", m=33, n=31, k=32),
        case("aligned", "aligned", m=128, n=128, k=128),
        case("large", "large", m=37, n=41, k=35),
        case("nan", "nan", m=8, n=7, k=6, inputs={"x": Sprinkle(NAN)}),
    ]

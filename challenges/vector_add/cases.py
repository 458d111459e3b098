from grader.challenge.cases import INF, NAN, Case, Constant, Normal, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1024),
        case("empty", "empty", n=0),
        case("one", "one_element", n=1),
        case("prime", "prime", n=1009),
        case("nan", "nan", n=500, inputs={"a": Sprinkle(NAN)}),
    ]

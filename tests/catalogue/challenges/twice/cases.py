from grader.challenge.cases import NAN, Case, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=64),
        case("empty", "empty", n=0),
        case("one", "one_element", n=1),
        case("prime", "prime", n=101),
        case("nan", "nan", n=64, inputs={"x": Sprinkle(NAN)}),
    ]

from grader.challenge.cases import NAN, Case, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0),
        case("one", "one_element", n=1),
        case("odd", "odd", n=4097),
        case("nan", "nan", n=300, inputs={"x": Sprinkle(NAN)}),
    ]

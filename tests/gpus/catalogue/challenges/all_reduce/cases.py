from grader.challenge.cases import NAN, Case, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0),
        case("one", "one_element", n=1),
        case("odd", "odd", n=4097),
        case("edge", "block_edge", n=256),
        case("aligned", "aligned", n=128),
        case("large", "large", n=5000),
        case("nan", "nan", n=300, inputs={"x": Sprinkle(NAN)}),
    ]

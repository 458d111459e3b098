from grader.challenge.cases import Case, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("one", "one_element", n=1),
        case("odd", "odd", n=4097),
    ]

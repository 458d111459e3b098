from grader.challenge.cases import Case, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=3, cols=5),
        case("scaled", "basic", rows=2, cols=2, scalars={"alpha": 3.5}),
        case("no_rows", "empty", rows=0, cols=5),
    ]

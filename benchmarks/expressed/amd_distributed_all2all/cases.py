from grader.challenge.cases import Case, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", tokens=12, hidden=10, chosen=4, local=4),
        case("tokens_0", "empty", tokens=0, hidden=5, chosen=2, local=2),
        case("one", "one_element", tokens=1, hidden=1, chosen=1, local=1),
        case("prime", "prime", tokens=11, hidden=7, chosen=3, local=5),
        case("edge", "block_edge", tokens=33, hidden=31, chosen=2, local=4),
        case("aligned", "aligned", tokens=128, hidden=128, chosen=2, local=4),
        case("large", "large", tokens=37, hidden=41, chosen=6, local=32),
    ]

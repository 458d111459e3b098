from grader.challenge.cases import Case, case


def cases() -> list[Case]:
    return [case("secret", "odd", n=333)]

"""Adam in place."""

from grader.challenge.cases import Case, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("unscaled", "odd", n=777, without=["scale"]),
        case("late_step", "prime", n=257, scalars={"step": 100_000, "lr": 0.5}),
        case("backwards", "basic", n=33, scalars={"lr": -0.1, "weight_decay": -0.5}, without=["scale"]),
        case("no_elements", "empty", n=0),
    ]

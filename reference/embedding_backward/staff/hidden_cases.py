"""Staff's own cases of embedding_backward: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Integers, Rows, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", tokens=307, dim=41, vocab=67),
        case("hidden_wide", "large", tokens=23, dim=2_050, vocab=5),
        case("hidden_padding", "range", tokens=200, dim=12, vocab=19, scalars={"padding": 13}),
        case(
            "hidden_hot",
            "range",
            tokens=700,
            dim=23,
            vocab=19,
            inputs={"indices": Sprinkle(18, 0.9, Integers(0, 19))},
        ),
        case(
            "hidden_nan",
            "nan",
            tokens=60,
            dim=22,
            vocab=13,
            inputs={"grad": Rows(NAN, 3), "indices": Rows(0, 3, Integers(1, 13))},
        ),
    ]

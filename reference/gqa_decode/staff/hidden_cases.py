"""Staff's own cases of gqa_decode: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Choice, Integers, Normal, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case(
            "hidden_prime",
            "prime",
            batch=7,
            q_heads=33,
            kv_heads=11,
            seq=211,
            dim=88,
            inputs={"lengths": Integers(1, 212)},
        ),
        case(
            "hidden_scores",
            "huge",
            batch=2,
            q_heads=12,
            kv_heads=2,
            seq=301,
            dim=128,
            inputs={"q": Normal(0, 2), "k": Normal(0, 2), "lengths": Choice((1, 200, 301))},
        ),
        case(
            "hidden_positive",
            "large",
            batch=1,
            q_heads=3,
            kv_heads=1,
            seq=1201,
            dim=8,
            inputs={"v": Uniform(1.0, 1.05)},
        ),
        case(
            "hidden_nan",
            "nan",
            batch=4,
            q_heads=6,
            kv_heads=2,
            seq=131,
            dim=24,
            inputs={"q": Sprinkle(NAN, 0.004), "lengths": Integers(1, 132)},
        ),
    ]

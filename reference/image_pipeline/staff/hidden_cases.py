"""Staff's own cases of image_pipeline: sizes and values that the public suite does not name."""

from grader.challenge.cases import Case, Choice, Integers, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", height=19, width=127),
        case("hidden_block_edge", "block_edge", height=47, width=95),
        case("hidden_narrow", "odd", height=101, width=3),
        case("hidden_low", "odd", height=3, width=245),
        case("hidden_steps", "range", height=17, width=61, inputs={"image": Choice((16, 235, 128))}),
        case(
            "hidden_sparks",
            "range",
            height=29,
            width=53,
            inputs={"image": Sprinkle(255, 0.02, Integers(0, 16))},
        ),
    ]

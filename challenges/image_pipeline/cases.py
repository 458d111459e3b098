"""The edge cases of image_pipeline."""

from grader.challenge.cases import At, Case, Choice, Constant, Integers, Rows, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", height=12, width=20),
        case(
            "no_rows",
            "empty",
            height=0,
            width=5,
            note="Nothing to do: a grid of 0 blocks is a launch error in CUDA.",
        ),
        case("no_columns", "empty", height=5, width=0),
        case(
            "one_element",
            "one_element",
            height=1,
            width=1,
            note="It is its own neighbour everywhere: no edge.",
        ),
        case("one_row", "one_element", height=1, width=77, note="The rows above and below are this one."),
        case("one_column", "one_element", height=77, width=1, note="The columns beside it are this one."),
        case("two_rows", "odd", height=2, width=37),
        case("two_columns", "odd", height=37, width=2),
        case("three_by_three", "odd", height=3, width=3, note="One pixel is at no border of the image."),
        case("odd", "odd", height=15, width=43),
        case("prime", "prime", height=13, width=61),
        case("aligned", "aligned", height=32, width=128),
        *[
            case(f"width_{width}", "block_edge", height=5, width=width)
            for width in (15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 257)
        ],
        *[
            case(f"height_{height}", "block_edge", height=height, width=6)
            for height in (15, 16, 17, 31, 33, 63, 64, 65, 129)
        ],
        *[
            # A tile without its halo, and a few columns around it.
            case(f"tile_{height}_{width}", "large", height=height, width=width)
            for height, width in (
                (12, 119),
                (9, 122),
                (11, 123),
                (10, 124),
                (34, 36),
                (33, 34),
                (66, 62),
                (9, 241),
            )
        ],
        case("black", "range", height=11, width=30, inputs={"image": Constant(0)}),
        case(
            "white",
            "range",
            height=11,
            width=30,
            inputs={"image": Constant(255)},
            note="(77 + 150 + 29) * 255 + 128 is 65408: it needs 16 bits without a sign.",
        ),
        case(
            "black_and_white",
            "range",
            height=21,
            width=50,
            inputs={"image": Choice((0, 255))},
            note="Many results are above 255: they are 255, not what is left of them in 8 bits.",
        ),
        case(
            "white_top",
            "range",
            height=11,
            width=30,
            inputs={"image": Rows(255, 1000, Constant(0))},
            note="The first row alone is white. Blurred rows above the image are copies of the first blurred row.",
        ),
        case("stripes", "range", height=21, width=30, inputs={"image": Rows(255, 4, Constant(0))}),
        case("fine_stripes", "range", height=21, width=30, inputs={"image": Rows(255, 2, Constant(0))}),
        case(
            "dots",
            "range",
            height=21,
            width=70,
            inputs={"image": Sprinkle(255, 0.01, Constant(0))},
            note="Single bytes of one colour, in the dark.",
        ),
        case("dark_dots", "range", height=21, width=70, inputs={"image": Sprinkle(0, 0.01, Constant(255))}),
        case(
            "red",
            "range",
            height=11,
            width=30,
            inputs={"image": At(0, (1, 2), Integers(0, 256))},
            note="Each colour has a weight of its own.",
        ),
        case("green", "range", height=11, width=30, inputs={"image": At(0, (0, 2), Integers(0, 256))}),
        case("blue", "range", height=11, width=30, inputs={"image": At(0, (0, 1), Integers(0, 256))}),
        case(
            "dim",
            "range",
            height=21,
            width=50,
            inputs={"image": Integers(0, 4)},
            note="Rounding decides: 128 is added before grey is divided, 8 before the blur is.",
        ),
        case("bright", "range", height=21, width=50, inputs={"image": Integers(250, 256)}),
        case("large", "large", height=23, width=301),
        case("wide", "large", height=3, width=3_001),
        case("high", "large", height=1_201, width=5),
        case(
            "odd_as_timed",
            "odd",
            height=22_003,
            width=32_771,
            note="3 * height * width is beyond 2^31.",
            on="gpu",
        ),
    ]

"""The edge cases of radix_sort."""

from grader.challenge.cases import Case, Choice, Constant, Integers, Offsets, Sprinkle, case

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1


def _byte(number: int) -> Choice:
    """Elements that differ in one byte alone, and in it in both halves."""
    values = [byte << 8 * number for byte in range(0, 256, 15)]
    return Choice(tuple(value - 2**32 if value > _INT_MAX else value for value in values))


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="Nothing to do: a grid of 0 blocks is a launch error in CUDA."),
        case("one_element", "one_element", n=1),
        case("two_elements", "range", n=2, inputs={"x": Offsets(-7, 9)}),
        case("odd", "odd", n=777),
        case("prime", "prime", n=1009),
        case("aligned", "aligned", n=4096),
        *[
            case(f"n_{n}", "block_edge", n=n)
            for n in (31, 32, 33, 127, 129, 256, 257, 1023, 1025, 2049, 4097)
        ],
        case(
            "negative",
            "range",
            n=1_501,
            inputs={"x": Integers(_INT_MIN, 0)},
            note="The highest bit is set in all of them.",
        ),
        case("positive", "range", n=1_501, inputs={"x": Integers(0, 2**31)}),
        case(
            "around_0",
            "range",
            n=1_201,
            inputs={"x": Integers(-50, 50)},
            note="The upper digits say the sign, and nothing else. Negative elements come first.",
            timed=True,
        ),
        case("sign_alone", "ties", n=900, inputs={"x": Choice((-1, 0))}, timed=True),
        *[
            case(
                f"byte_{number}",
                "range",
                n=700,
                inputs={"x": _byte(number)},
                note="Elements differ in this byte alone.",
                timed=True,
            )
            for number in range(4)
        ],
        case(
            "small",
            "range",
            n=2_003,
            inputs={"x": Integers(0, 16)},
            note="Most digits are 0 in all elements.",
        ),
        case(
            "close",
            "range",
            n=1_300,
            inputs={"x": Integers(2**30, 2**30 + 3_000)},
            note="A float32 does not tell these numbers apart.",
        ),
        case(
            "extremes",
            "range",
            n=1_100,
            inputs={"x": Choice((_INT_MIN, _INT_MIN + 1, -1, 0, 1, _INT_MAX - 1, _INT_MAX))},
            note="2147483647 is an element like any other, not a mark for the end.",
            timed=True,
        ),
        case("largest", "range", n=515, inputs={"x": Sprinkle(_INT_MAX, 0.3, Integers(-9, 9))}),
        case("smallest", "range", n=515, inputs={"x": Sprinkle(_INT_MIN, 0.3, Integers(-9, 9))}),
        case("all_equal", "ties", n=1_301, inputs={"x": Constant(-77)}, timed=True),
        case(
            "one_differs",
            "ties",
            n=2_501,
            inputs={"x": Sprinkle(-5, 0.0001, Constant(12))},
            note="One element moves to the front, all others by one place.",
        ),
        case(
            "few_values",
            "ties",
            n=3_001,
            inputs={"x": Choice((5, -300, 70_000, 1, -(2**20)))},
            note="Equal elements are all kept.",
        ),
        case("sorted", "range", n=1_201, inputs={"x": Offsets(_INT_MIN, _INT_MAX)}),
        case("large", "large", n=12_011),
        case("large_few_values", "ties", n=8_009, inputs={"x": Integers(-40, 40)}, timed=False),
        case(
            "large_sorted",
            "range",
            n=9_029,
            inputs={"x": Offsets(-(10**9), 10**9)},
            note="A tile has few different digits at the top.",
            timed=False,
        ),
        case(
            "odd_as_timed",
            "large",
            n=268_435_459,
            note="A float32 does not hold every place from 2^24 on.",
            on="gpu",
        ),
        case(
            "equal_as_timed",
            "ties",
            n=268_435_459,
            inputs={"x": Constant(3)},
            note="One digit has all elements.",
            on="gpu",
        ),
    ]

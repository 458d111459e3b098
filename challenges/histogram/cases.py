"""The edge cases of histogram."""

from grader.challenge.cases import Case, Choice, Constant, Integers, case

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000, bins=16),
        case(
            "no_values", "empty", n=0, bins=10, note="Nothing to count: every bin is 0, and must be written."
        ),
        case("no_bins", "empty", n=100, bins=0, note="No value has a bin; out has no element."),
        case("nothing", "empty", n=0, bins=0),
        case("one_element", "one_element", n=1, bins=7),
        case("one_bin", "one_element", n=500, bins=1, inputs={"x": Integers(0, 3)}),
        case("odd", "odd", n=777, bins=15),
        case("prime", "prime", n=1009, bins=101),
        case("aligned", "aligned", n=16384, bins=256),
        *[case(f"n_{n}", "block_edge", n=n, bins=20) for n in (31, 33, 127, 129, 1023, 1024, 1025)],
        *[
            case(f"bins_{bins}", "block_edge", n=600, bins=bins)
            for bins in (31, 32, 33, 127, 129, 255, 256, 257)
        ],
        case("bins_1025", "block_edge", n=600, bins=1025),
        case(
            "bins_12289",
            "block_edge",
            n=600,
            bins=12_289,
            note="More counters than the 48 KiB of shared memory that a block has without asking.",
        ),
        case("zeros", "zeros", n=700, bins=12, inputs={"x": Constant(0)}),
        case("ones", "ones", n=700, bins=12, inputs={"x": Constant(1)}),
        case(
            "one_hot",
            "ties",
            n=5000,
            bins=64,
            inputs={"x": Constant(63)},
            note="Every value in the last bin.",
        ),
        case("two_bins", "ties", n=3000, bins=64, inputs={"x": Choice((5, 6))}),
        case(
            "outside",
            "range",
            n=800,
            bins=50,
            inputs={"x": Integers(-40, 90)},
            note="Values outside 0..bins-1 are ignored.",
        ),
        case("just_outside", "range", n=600, bins=50, inputs={"x": Choice((-1, 0, 49, 50))}),
        case(
            "extremes",
            "range",
            n=600,
            bins=50,
            inputs={"x": Choice((_INT_MIN, _INT_MAX, 0, 49, 256, 65536))},
            timed=True,
        ),
        case("all_outside", "range", n=300, bins=8, inputs={"x": Choice((-1, 8))}),
        case("large", "large", n=60_001, bins=200),
        case(
            "many_blocks",
            "stream_order",
            n=200_003,
            bins=64,
            note="Clearing and counting must not overtake each other.",
        ),
        case(
            "one_hot_150001",
            "ties",
            n=150_001,
            bins=300,
            inputs={"x": Constant(299)},
            timed=False,
            note="More in one bin than 16 bits count.",
        ),
        case(
            "outside_150001", "range", n=150_001, bins=1000, inputs={"x": Integers(-1000, 2000)}, timed=False
        ),
        case(
            "one_hot_beyond_2_24",
            "ties",
            n=33_554_437,
            bins=300,
            inputs={"x": Constant(299)},
            note="More in one bin than a float32 counts.",
            on="gpu",
        ),
        case(
            "odd_as_timed", "range", n=536_870_917, bins=1001, inputs={"x": Integers(-1001, 2002)}, on="gpu"
        ),
    ]

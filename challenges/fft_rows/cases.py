"""The edge cases of fft_rows."""

from grader.challenge.cases import (
    INF,
    NAN,
    At,
    Case,
    Choice,
    Constant,
    Integers,
    Normal,
    Sprinkle,
    Uniform,
    case,
)


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=6, n=32),
        case(
            "no_rows",
            "empty",
            rows=0,
            n=16,
            note="Nothing to do: a grid of 0 blocks is a launch error in CUDA.",
        ),
        case("one_element", "one_element", rows=1, n=1, note="The transform of one number is that number."),
        case("one_row", "one_element", rows=1, n=256),
        case("length_1", "one_element", rows=77, n=1, note="out is a copy of x."),
        case("odd", "odd", rows=21, n=16),
        case("prime", "prime", rows=31, n=64),
        case("aligned", "aligned", rows=128, n=128),
        *[case(f"n_{n}", "range", rows=rows, n=n) for n, rows in ((2, 37), (4, 21), (8, 19))],
        *[
            case(f"n_{n}", "block_edge", rows=rows, n=n)
            for n, rows in ((16, 9), (32, 9), (64, 7), (128, 7), (256, 5), (512, 5), (1024, 3))
        ],
        *[
            case(f"rows_{rows}", "block_edge", rows=rows, n=4)
            for rows in (15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257, 511, 513)
        ],
        case("zeros", "zeros", rows=5, n=64, inputs={"x": Choice((0.0, -0.0))}),
        case(
            "ones",
            "ones",
            rows=5,
            n=64,
            inputs={"x": Constant(1)},
            note="Element 0 is n times the constant, and all others are 0.",
        ),
        case(
            "whole_numbers",
            "range",
            rows=7,
            n=128,
            inputs={"x": Integers(-50, 50)},
        ),
        case(
            "real",
            "range",
            rows=7,
            n=128,
            inputs={"x": At(0.0, (1,))},
            note="Imaginary parts are 0, so elements k and n - k of a result are conjugate.",
        ),
        case("imaginary", "range", rows=7, n=128, inputs={"x": At(0.0, (0,))}),
        case(
            "positive",
            "range",
            rows=3,
            n=1024,
            inputs={"x": Uniform(0, 1)},
            note="Element 0 is the largest by far.",
        ),
        case(
            "huge",
            "huge",
            rows=5,
            n=64,
            inputs={"x": Uniform(-1e36, 1e36)},
            note="Close to the largest float32, and finite.",
        ),
        case("tiny", "tiny", rows=5, n=256, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            rows=5,
            n=64,
            inputs={"x": Uniform(-1e-39, 1e-39)},
            note="Below 1.2e-38 a float32 is denormal: such numbers are kept, not flushed to 0.",
        ),
        case(
            "cancellation",
            "cancellation",
            rows=5,
            n=512,
            inputs={"x": Normal(1000, 1)},
            note="Large terms cancel everywhere but in element 0.",
        ),
        case(
            "nan",
            "nan",
            rows=29,
            n=64,
            inputs={"x": Sprinkle(NAN, 0.002)},
            note="Every element of its row is NaN, and no other row.",
        ),
        case("nan_in_short_rows", "nan", rows=77, n=4, inputs={"x": Sprinkle(NAN)}, timed=False),
        case("pos_inf", "pos_inf", rows=29, n=64, inputs={"x": Sprinkle(INF, 0.002)}),
        case("neg_inf", "neg_inf", rows=29, n=64, inputs={"x": Sprinkle(-INF, 0.002)}),
        case("large", "large", rows=43, n=1024),
        case("many_rows", "large", rows=70_001, n=2, note="More rows than a grid has blocks along y."),
        case("many_short_rows", "large", rows=5_003, n=8),
        case("nan_in_long_rows", "nan", rows=13, n=1024, inputs={"x": Sprinkle(NAN, 0.0001)}, timed=False),
        case(
            "odd_as_timed",
            "nan",
            rows=262_147,
            n=1024,
            inputs={"x": Sprinkle(NAN, 0.000001)},
            on="gpu",
        ),
        case("beyond_2_31", "large", rows=2_097_169, n=1024, on="gpu"),
    ]

"""Staff's own cases of fft_rows: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, At, Case, Choice, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=43, n=32),
        case("hidden_long", "odd", rows=7, n=1024),
        case("hidden_odd_power", "odd", rows=11, n=128, inputs={"x": Uniform(-3, 5)}),
        case("hidden_block_edge", "block_edge", rows=49, n=16),
        case("hidden_ties", "range", rows=9, n=512, inputs={"x": Choice((1.0, -1.0))}),
        case("hidden_real", "range", rows=9, n=256, inputs={"x": At(0.0, (1,))}),
        case("hidden_nan", "nan", rows=19, n=128, inputs={"x": Sprinkle(NAN, 0.001)}),
        case("hidden_large", "large", rows=1_009, n=16),
    ]

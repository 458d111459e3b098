"""Staff's own cases of adam_step: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Constant, Normal, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=8191),
        case(
            "hidden_scalars",
            "range",
            n=515,
            scalars={
                "lr": 0.125,
                "beta1": 0.8,
                "beta2": 0.95,
                "eps": 1e-3,
                "weight_decay": 0.75,
                "bias1": 0.488,
                "bias2": 0.142625,
            },
            inputs={"p": Normal(0, 0.1), "v": Uniform(0, 1e-4), "grad": Normal(0, 0.01)},
        ),
        case(
            "hidden_small",
            "range",
            n=515,
            scalars={"lr": 1.0, "eps": 1e-6},
            inputs={"p": Constant(0), "v": Uniform(0, 1e-14), "grad": Normal(0, 1e-7)},
        ),
        case("hidden_nan", "nan", n=515, inputs={"grad": Sprinkle(NAN, 0.1), "m": Sprinkle(NAN, 0.1)}),
    ]

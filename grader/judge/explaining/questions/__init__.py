"""Which other question a wrong result answers, by asking the challenge's reference."""

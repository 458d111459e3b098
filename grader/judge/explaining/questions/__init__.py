"""Which other question a wrong result answers, by the challenge's reference."""

"""Which other question a wrong result answers, by the reference."""

"""Finds another question that a wrong result answers, by asking the challenge's reference."""

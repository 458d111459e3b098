"""Proves that a challenge's suite is strong, and writes folders of new challenges."""

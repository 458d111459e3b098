"""Writes the folder of a new challenge: a working example for a teacher to edit."""

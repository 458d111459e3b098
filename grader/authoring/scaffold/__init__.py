"""Writes the folder of a new challenge: a working example of its signature for a teacher to edit."""

"""Writes the folder of a new challenge: a working example of its signature, which its teacher then edits."""

"""Finds sources more alike than independent work."""

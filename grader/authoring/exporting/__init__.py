"""Writes challenges in the forms of other platforms, for `grader challenge export`."""

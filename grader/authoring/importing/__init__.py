"""Reads challenges of other platforms, for `grader challenge import`."""

"""Starts workers by a scheduler or a cloud while work waits: see ``grader fleet``."""

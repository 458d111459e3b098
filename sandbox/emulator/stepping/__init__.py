"""Runs a block a row at a time: bundles for a page, names of variables, races as a pair, who would have written an
element, and questions on a call."""

"""Runs a block a row at a time: for pages, variables' names, races as a pair, missing writes, and questions."""

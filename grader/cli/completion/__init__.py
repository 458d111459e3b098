"""Completion for shells, as scripts that hold every word of the command line: no program runs when Tab is pressed."""

"""Explains the emulated GPU's records: writers of elements, and what was never read or written."""

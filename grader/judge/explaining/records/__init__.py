"""What the emulated GPU's records show: who wrote an element, what was never read or written."""

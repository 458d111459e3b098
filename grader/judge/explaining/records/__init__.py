"""What the emulated GPU recorded of reads and writes."""

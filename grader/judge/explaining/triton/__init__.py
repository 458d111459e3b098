"""Names mistakes in Triton sources."""

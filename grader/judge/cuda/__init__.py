"""The judge's back end for NVIDIA GPUs."""

"""Self-hosted grading for GPU kernels. Importing this package loads nothing but itself."""

__version__ = "0.1.0"

"""The NVIDIA GPU's back end of the judge: shared device memory, a gate on the stream, kernels of our own."""

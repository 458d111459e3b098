"""Reads CUDA sources for mistakes."""

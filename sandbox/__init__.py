"""Boxes for untrusted code. Import it as ``grader.sandbox``."""

if __name__ == "sandbox":
    raise ImportError("import grader.sandbox, not sandbox: the top-level folder only holds its files")

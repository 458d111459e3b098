"""The web application. Import it as ``grader.web``."""

if __name__ == "web":
    raise ImportError("import grader.web, not web: the top-level folder is only where its files lie")

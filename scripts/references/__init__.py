"""One file for each page of docs/reference/; each has ``make()``, which returns the page."""

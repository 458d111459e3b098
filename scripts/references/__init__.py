"""Pages of docs/reference/, one a file: ``make()`` returns the page."""

"""Whether sources resemble each other more than independent work does."""

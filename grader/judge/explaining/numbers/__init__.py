"""What the numbers of a wrong result show by themselves."""

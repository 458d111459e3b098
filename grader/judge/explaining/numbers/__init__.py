"""What a wrong result's numbers show by themselves."""

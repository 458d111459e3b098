"""For teachers: proves that a challenge's suite is strong, and writes the folder of a new challenge."""

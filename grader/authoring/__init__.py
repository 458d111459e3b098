"""The teacher's side: proving that a challenge's suite is strong, and writing the folder of a new one."""

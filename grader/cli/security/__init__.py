"""The checks of `grader doctor --security`: is this host safe for other people's code? One file per area."""

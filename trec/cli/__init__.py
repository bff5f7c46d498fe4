"""The command line: one file for each command, and what commands have in common."""

"""What a run may change of what is the user's, and how it becomes again what it was."""

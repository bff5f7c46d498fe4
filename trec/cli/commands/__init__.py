"""The commands, one file each: `add` says what it takes, `run` does it."""

"""Which value each tensor holds at each moment, through views, writes and memory that is shared."""

"""From programs that torch has traced to graphs."""

"""What a graph can be turned into: pictures by way of one drawing, and data for other tools."""

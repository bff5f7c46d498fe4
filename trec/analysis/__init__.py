"""What is known of a graph without changing it: selections, sizes, sums, memory, paths, repeats, differences."""

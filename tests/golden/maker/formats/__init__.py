"""Other formats in which weights are published."""

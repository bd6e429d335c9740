"""Other ways in which the same weights are published."""

"""One module per file. Each has a function cases()."""

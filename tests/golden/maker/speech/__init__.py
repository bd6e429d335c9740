"""One module per file of speech/. Each has a function cases()."""

"""One module a file of speech/, each with a function cases()."""

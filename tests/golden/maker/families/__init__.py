"""One module for each group of related families."""

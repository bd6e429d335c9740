"""One module a layer, each with a function cases() that gives Cases."""

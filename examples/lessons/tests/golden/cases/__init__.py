"""One module per layer. Each has a function cases() that returns Cases."""

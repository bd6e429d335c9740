"""Makes the golden checkpoints; see ../README.md."""

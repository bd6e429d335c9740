"""How the golden checkpoints are made: see ../README.md."""

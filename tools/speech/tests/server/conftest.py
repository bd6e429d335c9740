"""Clients of `encdec serve`, with what tests/serve shares."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "tests/serve"))

from serving import *

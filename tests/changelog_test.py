"""The program of CHANGELOG.md turns glossaries that the server of 0.2 stored into files of terms."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


class StoredGlossaries(unittest.TestCase):
    def test_they_become_files_of_terms(self) -> None:
        program = re.search(r"^```python\n(.*?)^```", CHANGELOG.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        assert program
        dictionaries = [
            {"source": "en", "target": "de", "terms": {"cell": "Zelle", "a b": "ö"}},
            {"source": "en", "target": "fr", "terms": {"cell": "cellule"}},
        ]
        stored = {"id": "1f", "name": "x", "owner": "", "created_ms": 5, "dictionaries": dictionaries}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "glossaries").mkdir()
            (folder / "glossaries" / "1f.json").write_text(json.dumps(stored), encoding="utf-8")
            subprocess.run([sys.executable, "-c", program[1]], cwd=folder, check=True)
            self.assertEqual((folder / "1f.en-de.tsv").read_text(encoding="utf-8"), "cell\tZelle\na b\tö\n")
            self.assertEqual((folder / "1f.en-fr.tsv").read_text(encoding="utf-8"), "cell\tcellule\n")


if __name__ == "__main__":
    unittest.main()

"""levels.py finds what it should find."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).with_name("levels.py")
TABLE = """
| `engine/` | core | 2 | `a` | b |
| `models/a/` | core | 1,000 | `a` | b |
| `models/` | core | 1 | `a` | b |
| `layers/lessons/` | optional components | 9 | `a` | b |
| `tools/serve/` | front ends | 9 | | b |
| `tools/encdec/` | front ends | 9 | | b |
| `python/encdec/` | front ends | 9 | | b |
| `tools/bench/` | benchmarks and training | 9 | | b |

| all C++ | `engine models tools` | `.h .cc` | 4 |
"""


class Levels(unittest.TestCase):
    def check(self, files: dict[str, str]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for row in ("engine", "models/a", "layers/lessons", "tools/serve", "tools/encdec", "tools/bench", "python/encdec"):
                (root / row).mkdir(parents=True)
            (root / "ARCHITECTURE.md").write_text(TABLE)
            reading = files.pop("READING", "")
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            command = [sys.executable, str(TOOL), folder]
            picture = subprocess.run([*command, "--picture"], capture_output=True, text=True, check=True).stdout
            (root / "ARCHITECTURE.md").write_text(TABLE + picture + reading)
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0 if "were looked at" in result.stdout else 1)
            return result.stdout

    def test_higher_rows_may_be_included(self) -> None:
        files = {"engine/a.h": "", "tools/encdec/b.h": '#include <encdec/engine/a.h>\n#include "encdec/engine/a.h"\n'}
        self.assertIn("1 includes of 2 files", self.check(files))

    def test_an_include_of_a_lower_row_is_found(self) -> None:
        files = {"engine/a.h": '#include "encdec/layers/lessons/b.h"\n', "layers/lessons/b.h": ""}
        self.assertIn("engine/a.h includes layers/lessons/b.h, which is of a lower row", self.check(files))

    def test_tools_are_resolved_as_compilers_do(self) -> None:
        files = {"tools/serve/a.cc": '#include "encdec/b.h"\n', "tools/encdec/b.h": ""}
        self.assertIn("tools/serve/a.cc includes tools/encdec/b.h, which is of a lower row", self.check(files))
        self.assertIn("tools/serve/a.cc includes c.h", self.check({"tools/serve/a.cc": '#include "c.h"\n'}))

    def test_circles_of_files_are_found(self) -> None:
        files = {"engine/a.h": '#include "encdec/engine/b.h"\n', "engine/b.h": '#include "encdec/engine/a.h"\n'}
        self.assertIn("files include each other: engine/a.h, engine/b.h", self.check(files))

    def test_circles_of_folders_are_found(self) -> None:
        files = {
            "tools/serve/a.h": '#include "serve/x/b.h"\n',
            "tools/serve/x/b.h": '#include "serve/c.h"\n',
            "tools/serve/c.h": "",
        }
        self.assertIn("folders include each other: tools/serve, tools/serve/x", self.check(files))

    def test_circles_of_imports_are_found_wherever_they_stand(self) -> None:
        files = {
            "python/encdec/a.py": "from . import b\n",
            "python/encdec/b.py": "def f():\n    from .a import c\n",
        }
        self.assertIn("files include each other: python/encdec/a.py, python/encdec/b.py", self.check(files))

    def test_a_folder_above_its_ceiling_is_found(self) -> None:
        self.assertIn("were looked at", self.check({"engine/a.h": "\n\n", "tools/encdec/b.h": '#include "a.h"\n', "tools/encdec/a.h": ""}))
        self.assertIn("engine/ has 3 lines, expected 2 at most", self.check({"engine/a.h": "\n", "engine/x/b.h": "\n\n"}))
        found = self.check({"engine/a.h": "\n\n", "models/a/b.cc": "\n", "models/c.cc": "\n\n"})
        self.assertIn("models/ has 2 lines, expected 1 at most", found)
        self.assertNotIn("models/a/", found)
        self.assertIn("all C++ has 5 lines, expected 4 at most", found)

    def test_lists_of_files_to_read_are_counted(self) -> None:
        def reading(rows: str) -> dict[str, str]:
            files = {"engine/a.h": "\n" * 2, "tools/serve/b.h": "\n", "tools/serve/b.cc": '#include "b.h"\n'}
            return {**files, "READING": f"\n## The hour: at most 3 lines\n\n{rows}\n## Another\n"}

        row = "| `tools/serve/`: `b.*` | {} | b |\n"
        self.assertIn("were looked at", self.check(reading(row.format(10))))
        self.assertIn("--reading: | `tools/serve/`: `b.*` | 10 |", self.check(reading(row.format(20))))
        self.assertIn("The hour has 4 lines, expected 3 at most", self.check(reading(row.format(10) + "| `engine/a.h` | 10 | |\n")))
        self.assertIn("tools/serve/c.h, which does not exist", self.check(reading("| `tools/serve/c.h` | 10 | |\n")))


if __name__ == "__main__":
    unittest.main()

"""levels.py finds what it should find."""

from __future__ import annotations

import re
import shutil
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
| `tools/common/` | hosts | 9 | | b |
| `tools/server/` | hosts | 9 | | b |
| `python/encdec/` | hosts | 9 | | b |
| `tools/speech/` | slices | 9 | | b |
| `tools/encoders/` | slices | 9 | | b |
| `python/encdec/speech/` | slices | 9 | | b |
| `tools/bench/` | programs and training | 9 | | b |

| all C++ | `engine models tools` | `.h .cc` | 4 |
"""
ROWS = re.findall("^. `([a-z/]+)/`", TABLE, re.MULTILINE)


class Levels(unittest.TestCase):
    def check(self, files: dict[str, str]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for row in ROWS:
                (root / row).mkdir(parents=True, exist_ok=True)
            (root / "ARCHITECTURE.md").write_text(TABLE)
            reading = files.pop("READING", "")
            for name in files.pop("DELETED", "").split():
                shutil.rmtree(root / name)
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
        files = {"engine/a.h": "", "tools/speech/b.h": '#include <encdec/engine/a.h>\n#include "encdec/engine/a.h"\n'}
        self.assertIn("1 includes of 2 files", self.check(files))

    def test_an_include_of_a_lower_row_is_found(self) -> None:
        files = {"engine/a.h": '#include "encdec/models/b.h"\n', "models/b.h": ""}
        self.assertIn("engine/a.h includes models/b.h, which is of a lower row", self.check(files))

    def test_tools_are_resolved_as_compilers_do(self) -> None:
        files = {"tools/common/a.cc": '#include "server/b.h"\n', "tools/server/b.h": ""}
        self.assertIn("tools/common/a.cc includes tools/server/b.h, which is of a lower row", self.check(files))
        self.assertIn("tools/server/a.cc includes c.h", self.check({"tools/server/a.cc": '#include "c.h"\n'}))

    def test_only_a_slice_and_programs_use_the_slice(self) -> None:
        slice_ = {"tools/speech/a.h": "", "python/encdec/speech/a.py": "", "python/encdec/c.py": ""}

        def used(file: str, line: str) -> str:
            return self.check({**slice_, file: line + "\n"})

        installed, beside = '#include "encdec/speech/a.h"', '#include "speech/a.h"'
        for file in ("tools/server/b.cc", "tools/encoders/b.cc", "tools/encoders/tests/b.cc", "tests/b.cc", "engine/b.cc"):
            for line in (installed, beside) if file.startswith("tools") else (installed,):
                self.assertIn(f"{file} includes tools/speech/a.h, which is of slice speech", used(file, line))
        for file in ("tools/speech/server/b.cc", "tools/speech/tests/b.cc", "tools/bench/b.cc"):
            self.assertIn("were looked at", used(file, installed))
        imported = "python/encdec/b.py includes python/encdec/speech/a.py, which is of slice speech"
        self.assertIn(imported, used("python/encdec/b.py", "from .speech.a import c"))
        self.assertIn(imported, used("python/encdec/b.py", "from .speech import a"))
        guarded = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .speech.a import c\nfrom . import c"
        self.assertIn("1 includes", used("python/encdec/b.py", guarded))

    def test_a_slice_may_be_deleted(self) -> None:
        files = {"engine/a.h": "", "models/b.h": '#include "encdec/engine/a.h"\n'}
        self.assertIn("were looked at", self.check({**files, "DELETED": "tools/speech python/encdec/speech"}))
        used = '#include "encdec/speech/a.h"\n#include "encdec/engine/a.h"\n'
        for file, result in (("tools/bench/c.cc", "were looked at"), ("tools/server/c.cc", "includes encdec/speech/a.h")):
            self.assertIn(result, self.check({**files, file: used, "DELETED": "tools/speech python/encdec/speech"}))
        self.assertIn("has a row for tools/common/, which does not exist", self.check({**files, "DELETED": "tools/common"}))

    def test_circles_of_files_are_found(self) -> None:
        files = {"engine/a.h": '#include "encdec/engine/b.h"\n', "engine/b.h": '#include "encdec/engine/a.h"\n'}
        self.assertIn("files include each other: engine/a.h, engine/b.h", self.check(files))

    def test_circles_of_folders_are_found(self) -> None:
        files = {
            "tools/server/a.h": '#include "server/x/b.h"\n',
            "tools/server/x/b.h": '#include "server/c.h"\n',
            "tools/server/c.h": "",
        }
        self.assertIn("folders include each other: tools/server, tools/server/x", self.check(files))

    def test_circles_of_imports_are_found_wherever_they_stand(self) -> None:
        files = {
            "python/encdec/a.py": "from . import b\n",
            "python/encdec/b.py": "def f():\n    from .a import c\n",
        }
        self.assertIn("files include each other: python/encdec/a.py, python/encdec/b.py", self.check(files))

    def test_a_folder_above_its_ceiling_is_found(self) -> None:
        self.assertIn("were looked at", self.check({"engine/a.h": "\n\n", "tools/common/b.h": '#include "a.h"\n', "tools/common/a.h": ""}))
        self.assertIn("engine/ has 3 lines, expected 2 at most", self.check({"engine/a.h": "\n", "engine/x/b.h": "\n\n"}))
        found = self.check({"engine/a.h": "\n\n", "models/a/b.cc": "\n", "models/c.cc": "\n\n"})
        self.assertIn("models/ has 2 lines, expected 1 at most", found)
        self.assertNotIn("models/a/", found)
        self.assertIn("all C++ has 5 lines, expected 4 at most", found)

    def test_lists_of_files_to_read_are_counted(self) -> None:
        def reading(rows: str) -> dict[str, str]:
            files = {"engine/a.h": "\n" * 2, "tools/server/b.h": "\n", "tools/server/b.cc": '#include "b.h"\n'}
            return {**files, "READING": f"\n## The hour: at most 3 lines\n\n{rows}\n## Another\n"}

        row = "| `tools/server/`: `b.*` | {} | b |\n"
        self.assertIn("were looked at", self.check(reading(row.format(10))))
        self.assertIn("--reading: | `tools/server/`: `b.*` | 10 |", self.check(reading(row.format(20))))
        self.assertIn("The hour has 4 lines, expected 3 at most", self.check(reading(row.format(10) + "| `engine/a.h` | 10 | |\n")))
        self.assertIn("tools/server/c.h, which does not exist", self.check(reading("| `tools/server/c.h` | 10 | |\n")))


if __name__ == "__main__":
    unittest.main()

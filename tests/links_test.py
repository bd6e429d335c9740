"""links.py finds what it should find."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).with_name("links.py")
README = "# The name\n\n## Two `words`, _here_\n\n```sh\nrun a  # comment\n```\n\n## Twice\n\n## Twice\n"


class Links(unittest.TestCase):
    def check(self, text: str, chinese: str = "") -> str:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in ("docs", "build", "venv"):
                (root / name).mkdir()
            (root / "README.md").write_text(README)
            (root / "README.zh-CN.md").write_text(chinese)
            (root / "docs/page.md").write_text(text)
            (root / "docs/a picture.svg").write_text("")
            (root / "build/page.md").write_text("[a](none.md)")
            (root / "venv/pyvenv.cfg").write_text("")
            (root / "venv/page.md").write_text("[a](none.md)")
            result = subprocess.run([sys.executable, str(TOOL), folder], capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0 if result.stdout == "3 pages were looked at\n" else 1)
            return result.stdout

    def test_what_exists_may_be_linked(self) -> None:
        links = ["[a](../README.md)", "[`b`\nc](../README.md#two-words-_here_)", "[d](../README.md#twice-1)"]
        pictures = ["![f](a%20picture.svg)", '<img width="1" src="a%20picture.svg">', "[g]: <../README.md>"]
        not_links = ["[h](https://example.org/none.md#none)", "`[i](none.md)`", "\n```\n[j](none.md)\n```"]
        self.assertIn("were looked at", self.check("\n".join(["# Own", "[e](#own)", *links, *pictures, *not_links])))

    def test_what_does_not_exist_is_found(self) -> None:
        for link in ("[a](none.md)", "![a](none.md)", "[a]: none.md", '<img src="none.md">', "[a](none.md#the-name)"):
            self.assertIn("docs/page.md: there is no file none.md", self.check(link))
        self.assertIn("there is no file ../docs", self.check("[a](../docs)"))
        self.assertIn("there is no file ../../README.md", self.check("[a](../../README.md)"))
        for name in ("none", "two-words", "The-name", "run-a", "twice-2"):
            self.assertIn(f"there is no heading ../README.md#{name}", self.check(f"[a](../README.md#{name})"))

    def test_commands_of_the_chinese_page_stand_in_the_english_one(self) -> None:
        self.assertIn("were looked at", self.check("", "```sh\nrun a   # 注释\n```\n"))
        self.assertIn("README.md does not have: run b", self.check("", "```sh\nrun b\n```\n"))


if __name__ == "__main__":
    unittest.main()

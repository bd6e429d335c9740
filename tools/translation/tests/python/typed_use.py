"""Typical calls with their types. mypy checks this file; it is not run."""

from pathlib import Path
from typing import TYPE_CHECKING, assert_type

import encdec

if TYPE_CHECKING:

    async def use(path: Path, model: encdec.Model) -> None:
        translator = encdec.Translator(["en_*", model], glossary={"a": "b"}, do_not_translate=["c"], threads=2)
        assert_type(translator.translate("a", "en", "de", alternatives=1), encdec.Translation)
        assert_type(translator.translate(["a"], via="never", html=True).pop().terms, list[encdec.Term])
        assert_type(await translator.atranslate("a", target="de"), encdec.Translation)
        assert_type(await translator.atranslate(["a"]), list[encdec.Translation])
        assert_type(translator.routes(), list[tuple[str, ...]])
        assert_type(translator.translate_file(path, to="de", entries="all", on_progress=print).output, str)
        document = encdec.documents.read(path, format="srt", line_width=37)
        assert_type(document.segments, list[encdec.documents.Segment])
        assert_type(document.write(["a", None, document.segments[0]]).content, bytes)
        translator.translate("a", num_beem=4)  # type: ignore[call-overload]

"""Tests of Translator and documents, with student models that replace "hl" by "lmldk" and the reverse."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import encdec
from encdec.documents import Code, Placeholder, Segment
from child_process import START as START_MODEL
from child_process import expect_ctrl_c_to_end, expect_daemon_thread_to_stop, run
from fixtures import awaited, expect_examples_to_run, expect_stub_to_be_complete


@pytest.fixture(scope="session")
def german(students: Path) -> encdec.Translator:
    return encdec.Translator(students / "en_de")


@pytest.fixture(scope="session")
def routes(students: Path) -> encdec.Translator:
    return encdec.Translator(f"{students}/*")


def test_a_text_gives_one_translation_and_a_list_a_list(german: encdec.Translator) -> None:
    result = german.translate("bjkf hl 70. ji efded.", "en-US", "de")
    assert result.text == "hglcf lmldk 70. hjj nsoxö."
    assert (result.source, result.route, result.alternatives, result.terms) == ("en", ["en", "de"], [], [])
    assert german.translate(["bjkf hl 70. ji efded.", "hl"])[0] == result
    assert german.translate([]) == []
    assert german.translate("<b>hl</b> ji", html=True).text == "<b>lmldk</b> hjj"
    assert len(german.translate("hl ji", alternatives=2).alternatives) == 2
    assert german.translate("hl.\nji.", split="never", num_beams=2, batch_size=1, workers=2).text.startswith("lmldk")


def test_models_and_routes(routes: encdec.Translator, students: Path, tmp_path: Path) -> None:
    assert routes.routes() == [("de", "en"), ("de", "en", "fr"), ("en", "de"), ("en", "fr")]
    assert routes.translate("bjkf hl 70.", "de", "fr").route == ["de", "en", "fr"]
    with pytest.raises(encdec.InputError, match="no target language, expected one of de, en, fr"):
        routes.translate("hl")
    model = encdec.Model(students / "de_en", workers=2)
    found = encdec.Translator([students / "en_*", model], threads=1)
    assert ("de", "en", "fr") in found.routes() and found.translate("hl", "en", "fr").text == "lmldk"
    unknown = tmp_path / "unknown"
    unknown.mkdir()
    for file in (students / "en_de").iterdir():
        shutil.copy(file, unknown / file.name.replace("ende.", ""))
    assert encdec.Translator(unknown, languages="cs:sk").translate("hl").route == ["cs", "sk"]
    calls: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (f"{students}/xx*", {}, encdec.FileError, "no folders, expected at least one model"),
        (students / "missing", {}, encdec.FileError, "missing"),
        (unknown, {}, encdec.ConfigError, 'languages are unknown, expected languages= such as "en:fr"'),
        ([unknown, unknown], {"languages": "cs:sk"}, ValueError, "languages: 1 for 2 models"),
        (unknown, {"precison": "int8"}, TypeError, "'precison', did you mean 'precision'"),
    ]
    for models, options, kind, message in calls:
        with pytest.raises(kind, match=message):
            encdec.Translator(models, **options)


def test_a_glossary(students: Path, tmp_path: Path) -> None:
    tsv, words = tmp_path / "terms.tsv", tmp_path / "words.txt"
    tsv.write_text("hl\tlmldk\n", encoding="utf-8")
    words.write_text("ffjmk\n")
    for glossary, kept in ({"hl": "lmldk"}, ["ffjmk"]), (str(tsv), words), ([tsv], str(words)):
        result = encdec.Translator(students / "en_de", glossary=glossary, do_not_translate=kept).translate("ffjmk hl.")
        assert [(each.source, each.target) for each in result.terms if each.source == "hl"] == [("hl", "lmldk")]
        assert "ffjmk" in result.text
    with pytest.raises(encdec.FileError, match="none.txt"):
        encdec.Translator(students / "en_de", do_not_translate=tmp_path / "none.txt")
    with pytest.raises(TypeError, match="a term of the glossary: int, expected str"):
        encdec.Translator(students / "en_de", glossary={"a": 5})  # type: ignore[dict-item]
    translator = encdec.Translator(encdec.open_model(students / "en_de"), glossary={"hl": "lmldk"})
    copy = pickle.loads(pickle.dumps(translator))
    assert copy.translate("hl").terms[0].method == "present"


def test_a_limit_of_tokens_is_told(golden: Callable[[str], encdec.Model]) -> None:
    endless = encdec.Translator(golden("marian/text"), languages="en:fr")
    assert "limit of tokens" in (endless.translate("cat").problem or "")


def test_a_file(german: encdec.Translator, tmp_path: Path) -> None:
    file, calls = tmp_path / "a.html", []
    file.write_text("<p>bjkf http://a.b\n<!-- hl -->\n<p>hl\n")
    result = german.translate_file(file, to="de", on_progress=lambda done, total: calls.append((done, total)))
    assert result.output == str(tmp_path / "a.de.html") and calls == [(2, 2)]
    assert "<!-- hl -->\n<p>lmldk\n" in Path(result.output).read_text(encoding="utf-8")
    assert [(each.where, each.source) for each in result.segments] == [("line 1", "bjkf http://a.b"), ("line 3", "hl")]
    assert result.segments[1].target == "lmldk" and result.segments[1].problem is None
    out = tmp_path / "out"
    assert german.translate_file(str(file), "de", output=out, format="text").output == str(out)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.de.html", "a.html", "out"]
    odd = tmp_path / os.fsdecode(b"\xff.txt")
    odd.write_text("hl")
    assert german.translate_file(odd).output == os.fsdecode(os.fsencode(tmp_path) + b"/\xff.de.txt")


def test_options_of_files(german: encdec.Translator, tmp_path: Path) -> None:
    file = tmp_path / "a.po"
    file.write_text('msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "hl"\nmsgstr "x"\n')
    assert german.translate_file(file).segments == []
    assert len(german.translate_file(file, entries="all", mark_fuzzy=False).segments) == 1
    assert "fuzzy" not in (tmp_path / "a.de.po").read_text()
    with pytest.raises(encdec.ConfigError, match="format is 'doc', expected text, html"):
        german.translate_file(file, format="doc")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'entrys', did you mean 'entries'"):
        german.translate_file(file, entrys="all")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="target and to are the same option"):
        german.translate_file(file, "de", to="de")


def test_failures_leave_no_output(german: encdec.Translator, tmp_path: Path) -> None:
    file = tmp_path / "a.xlf"
    file.write_text("<?xml version='1.0'?>\n<xliff>\n<a></b>\n</xliff>\n")
    with pytest.raises(encdec.FileError, match="a.xlf: line 3, column 6: "):
        german.translate_file(file)

    def fail(done: int, total: int) -> None:
        raise KeyError("stop")

    text = tmp_path / "a.txt"
    text.write_text("hl\n")
    with pytest.raises(KeyError, match="stop"):
        german.translate_file(text, on_progress=fail)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.de.txt.progress", "a.txt", "a.xlf"]
    german.translate_file(text)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.de.txt", "a.txt", "a.xlf"]


def test_threads_and_tasks(routes: encdec.Translator) -> None:
    expected = routes.translate(["hl ji", "efded"], "de", "fr")
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: routes.translate(["hl ji", "efded"], "de", "fr"), range(4))
        assert list(found) == [expected] * 4
    assert awaited(*(routes.atranslate("hl ji", "de", target="fr") for _ in range(3))) == [expected[0]] * 3


START = """
import encdec, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore SIGINT
translator = encdec.Translator(sys.argv[1])
open(sys.argv[2], "w").write("bjkf hl 70. ji efded.\\n\\n" * 20_000)
"""


@pytest.mark.parametrize(
    "call", ['translator.translate(["bjkf hl 70. ji efded."] * 20_000)', "translator.translate_file(sys.argv[2])"])
def test_ctrl_c_ends_a_call_within_a_fifth_of_a_second(call: str, students: Path, tmp_path: Path) -> None:
    after = 'assert translator.translate("hl").text == "lmldk"'
    expect_ctrl_c_to_end(call, START, after, students / "en_de", tmp_path / "a.txt")


def test_a_document(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text("<p>Ünd <b>dann</b> ja</p><p>nein</p>", encoding="utf-8")
    document = encdec.documents.read(file)
    first = document.segments[0]
    assert (first.text, first.where) == ("Ünd dann ja", "line 1")
    assert first.codes == (Code(4, "<b>", 1), Code(8, "</b>", 0))
    for same in document.segments, [None, None]:
        assert document.write(same).content == file.read_bytes()
    moved = Segment("ö dann", (Code(2, "<b>", 1), Code(6, "</b>", 0)))
    assert document.write([moved, "no"]).content.decode() == "<p>ö <b>dann</b></p><p>no</p>"
    assert document.write(["ö", None]).content.decode() == "<p>ö<b></b></p><p>nein</p>"
    with pytest.raises(TypeError, match="'fromat', did you mean 'format'"):
        encdec.documents.read(file, fromat="html")  # type: ignore[call-arg]
    wrong: list[Any] = ["ab", ["a", 5]]
    for each in wrong:
        with pytest.raises(TypeError, match="translations: (str|int), expected"):
            document.write(each)


def test_placeholders_of_a_document(tmp_path: Path) -> None:
    file = tmp_path / "a.po"
    file.write_text('msgid "Ünd {0} %s {0}"\nmsgstr ""\n', encoding="utf-8")
    document = encdec.documents.read(file)
    text, found = document.segments[0].text, document.segments[0].placeholders
    assert [text[each.begin : each.end] for each in found] == ["{0}", "%s", "{0}"]
    assert document.write(["%s ö {0} {0}"]).content.decode().endswith('msgstr "%s ö {0} {0}"\n')
    joined = Segment("ö {0}{0}%s", (), (Placeholder(2, 5), Placeholder(5, 8), Placeholder(8, 10)))
    assert document.write([joined]).content.decode().endswith('msgstr "ö {0}{0}%s"\n')
    lost = document.write(["{0} %s"])
    assert lost.content == file.read_bytes() and list(lost.unused) == [0] and "'{0}'" in lost.unused[0]
    with pytest.raises(encdec.InputError, match="translations"):
        document.write([])
    with pytest.raises(encdec.FileError, match="none.srt"):
        encdec.documents.read(tmp_path / "none.srt")


def test_places_in_a_long_text(tmp_path: Path) -> None:
    file, count = tmp_path / "a.html", 60_000  # takes minutes if each position is counted from the beginning
    file.write_text("<p>" + "ü<wbr>" * count + "ü</p>", encoding="utf-8")
    document = encdec.documents.read(file)
    assert [each.position for each in document.segments[0].codes[:3]] == [1, 2, 3]
    assert document.write(document.segments).content == file.read_bytes()


FILE = "translator.translate_file(sys.argv[2], on_progress=lambda *_: "


def test_ctrl_c_ends_a_callback(path: Path, subtitles: Path) -> None:
    call = "encdec.Translator(model).translate_file(sys.argv[2], on_progress=lambda *_: model.generate(words, **long))"
    expect_ctrl_c_to_end(call, START_MODEL, 'assert model.translate("cat") == "K AE1 T"', path, subtitles)


@pytest.mark.parametrize("seconds", [0.01, 1.4])  # the interpreter waits for one second
def test_daemon_threads_stop_when_the_interpreter_has_ended(seconds: float, path: Path, subtitles: Path) -> None:
    start = START_MODEL + "translator = encdec.Translator(model)"
    expect_daemon_thread_to_stop(f"{FILE}time.sleep({seconds}))", start, path, subtitles)


def test_the_main_thread_may_use_a_model_until_the_interpreter_has_ended(path: Path, subtitles: Path) -> None:
    code = """
import atexit, sys
def last():
    translator.translate_file(sys.argv[2], on_progress=lambda *_: print(model.tokenizer.encode("cat")))
atexit.register(last)  # registered before encdec is imported, so called after encdec's own
import encdec
model = encdec.Model(sys.argv[1])
translator = encdec.Translator(model)
class AtEnd:
    def __init__(self):
        self.encode = model.tokenizer.encode
    def __del__(self):
        print(self.encode("cat"))
sys.modules["at end"] = AtEnd()  # deleted while the interpreter ends
"""
    done = run(code, path, subtitles)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) >= 2 and set(lines) == {"[31, 7, 5, 24, 0]"}, (lines, done.stderr)


def test_types_and_examples(path: Path, model: encdec.Model, translator: encdec.Translator, subtitles: Path) -> None:
    expect_examples_to_run("encdec.translation", path=path, model=model, translator=translator, subtitles=subtitles)
    expect_stub_to_be_complete("encdec.translation._engine")

"""The class Translator."""

from __future__ import annotations

import asyncio
import functools
import glob
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union, overload

from .. import _inputs
from .._base import Model
from .._errors import FileError
from .._options import check_names
from .._registry import open_model
from . import _engine
from . import options as _options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    Path = Union[str, os.PathLike[str]]
    Models = Union[Path, Model, Iterable[Union[Path, Model]]]


@dataclass(frozen=True)
class Term:
    """A term of a glossary, or a word to keep, that a text has."""

    #: The term as the text has it.
    source: str
    #: The term that the translation must have.
    target: str
    #: How the translation got it: ``"present"`` if the model wrote it by itself; ``"failed"`` if it is missing.
    method: Literal["present", "stand_in", "alignment", "forced", "inserted", "failed"]


@dataclass(frozen=True)
class Translation:
    """The translation of a text."""

    text: str
    #: More translations, best first.
    alternatives: list[str]
    #: The code of the source language, which may have been detected: ``"de"``.
    source: str
    #: The languages from the source to the target: ``["de", "en", "fr"]``.
    route: list[str]
    terms: list[Term]
    #: Why text may be missing at the end of a sentence; None if nothing says so.
    problem: str | None = None


@dataclass(frozen=True)
class TranslatedSegment:
    """A text of a file with its translation."""

    #: The place in the file, such as ``"line 12"``.
    where: str
    source: str
    target: str
    terms: list[Term]
    #: Why the translation was not used, or why text may be missing in it; else None.
    problem: str | None


@dataclass(frozen=True)
class TranslatedFile:
    """The result of translating a file."""

    #: The path of the translation.
    output: str
    segments: list[TranslatedSegment]


class Translator:
    """Translates texts and files by one or more models. Threads and tasks may use a translator at the same time.

    - ``models``: a checkpoint folder, a pattern such as ``"models/*"``, a ``Model``, or a list of these. If no model
      translates between two languages, two are used one after the other.
    - ``languages``: the languages of the models, in their order, for folders that do not say them: ``"en:fr"`` or
      ``"en:de,fr"``. None for a model that does.
    - ``glossary``: a dict of terms and their translations, a file with these (.csv, or TERM<TAB>TRANSLATION a line), or
      a list of files. A term is written in this form; it is not inflected.
    - ``do_not_translate``: a list of words to keep, or a file with one a line.
    - ``options``: those of ``Model``, for folders.

    Raises FileError if there is no model, ConfigError if the languages of a model are unknown, and InputError for a
    damaged glossary.

    >>> translator = encdec.Translator(path, glossary={"Bob": "B AA1 B"})
    >>> translator.translate("A cat.").text
    'AE1 K AE0 T'
    """

    def __init__(
        self,
        models: Models,
        *,
        languages: str | Sequence[str | None] | None = None,
        glossary: Mapping[str, str] | Path | Sequence[Path] | None = None,
        do_not_translate: Sequence[str] | Path | None = None,
        **options: Any,
    ) -> None:
        self._core = _engine.Translator()
        self._arguments = dict(options, languages=languages, glossary=glossary, do_not_translate=do_not_translate)
        self._models = [each if isinstance(each, Model) else open_model(each, options) for each in _found(models)]
        codes = [languages] if isinstance(languages, str) else languages or [None] * len(self._models)
        if len(codes) != len(self._models):
            raise ValueError(f"languages: {len(codes)} for {len(self._models)} models, expected one for each")
        for model, pair in zip(self._models, codes):
            self._core.add(model._core, os.fsencode(model.path), pair or "")
        terms = list(glossary.items()) if isinstance(glossary, Mapping) else []
        files = [] if isinstance(glossary, Mapping) or not glossary else _listed(glossary)
        kept: list[Path] = []
        if isinstance(do_not_translate, (str, os.PathLike)):
            kept = [do_not_translate]
        else:
            terms += [(word, word) for word in do_not_translate or ()]
        if terms or files or kept:
            self._core.add_terms(terms, _encoded(files), _encoded(kept))

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(Translator, **self._arguments), (self._models,)

    def routes(self) -> list[tuple[str, ...]]:
        """Returns the languages of each way that the models can go.

        >>> encdec.Translator(path).routes()
        [('en', 'arpabet')]
        """
        return [tuple(each) for each in self._core.routes()]

    @overload
    def translate(  # type: ignore[overload-overlap]
        self, texts: str, source: str | None = None, target: str | None = None, via: str | None = None,
        **options: Unpack[_options.TextOptions]) -> Translation: ...
    @overload
    def translate(
        self, texts: Iterable[str], source: str | None = None, target: str | None = None, via: str | None = None,
        **options: Unpack[_options.TextOptions]) -> list[Translation]: ...  # fmt: skip
    def translate(
        self, texts: Any, source: str | None = None, target: str | None = None, via: str | None = None, **options: Any
    ) -> Any:
        """Returns the translation of a text, or a list for a list of texts.

        - ``source``: the language of the texts. None: each text's language is detected.
        - ``target``: the language of the translations. None: the only one that the models reach.
        - ``via``: the language to go through; ``"never"``: use one model only. None: none if a model has both
          languages, else English, else any.
        - ``html=True``: texts are HTML; tags are kept.
        - ``alternatives``: the number of further translations.
        - ``split``: what is translated at a time: ``"sentences"``, ``"lines"`` or ``"never"``, the whole text.
        - ``num_beams``: 1 for greedy search. None: that of the checkpoint.
        - ``batch_size``, ``workers``: results do not depend on these.

        Raises InputError if the models do not translate between these languages, and ConfigError for an option that is
        out of range. Ctrl-C ends the call.

        >>> result = translator.translate("The name is Bob.", target="arpabet")
        >>> result.route, result.terms[0].target
        (['en', 'arpabet'], 'B AA1 B')
        """
        check_names("translate", options, _options.TEXTS)
        inputs, single = _inputs.as_list(texts, "texts")
        found = self._core.translate(inputs, self._complete(options, source=source, target=target, via=via))
        made = [Translation(**{**each, "terms": _terms(each["terms"])}) for each in found]
        return made[0] if single else made

    @overload
    async def atranslate(  # type: ignore[overload-overlap]
        self, texts: str, source: str | None = None, target: str | None = None, via: str | None = None,
        **options: Unpack[_options.TextOptions]) -> Translation: ...
    @overload
    async def atranslate(
        self, texts: Iterable[str], source: str | None = None, target: str | None = None, via: str | None = None,
        **options: Unpack[_options.TextOptions]) -> list[Translation]: ...  # fmt: skip
    async def atranslate(self, texts: Any, *languages: Any, **options: Any) -> Any:
        """Returns the same as ``translate``, but is awaited. A thread of the event loop's executor makes the call.

        Cancelling the task does not stop that thread, and calls do not share batches.

        >>> asyncio.run(translator.atranslate("A cat.")) == translator.translate("A cat.")
        True
        """
        return await asyncio.to_thread(self.translate, texts, *languages, **options)

    def translate_file(
        self,
        path: Path,
        target: str | None = None,
        *,
        to: str | None = None,
        source: str | None = None,
        via: str | None = None,
        output: Path | None = None,
        on_progress: Callable[[int, int], object] | None = None,
        **options: Unpack[_options.FileOptions],
    ) -> TranslatedFile:
        """Translates the texts of a file. Everything else in it stays as it is.

        - ``target`` or ``to``, ``source``, ``via``, ``split``, ``num_beams``, ``batch_size``, ``workers``: as for
          ``translate``. The language is detected once, in the whole file.
        - ``output``: the file to write. None: NAME.LANGUAGE.EXTENSION in the same folder.
        - ``format``: see ``encdec.documents.read``.
        - ``entries``: what to translate in PO and XLIFF: ``"untranslated"``, ``"fuzzy"`` (also those to be checked) or
          ``"all"``.
        - ``mark_fuzzy=False``: PO: do not mark new translations as fuzzy.
        - ``xliff_state``: XLIFF 1.2: the state of new targets, ``"needs-review-translation"``.
        - ``line_width``, ``max_lines``: subtitles: characters in a line, and lines. None: 42, or 16 for Chinese,
          Japanese and Korean; 2.
        - ``join_gap``: subtitles: the pause in seconds after which a sentence does not go on (3.0).
        - ``on_progress(done, total)``: called, in another thread, after every few hundred texts.

        The output gets its name when it is complete. After Ctrl-C or an error OUTPUT.progress has what is translated,
        and the same call goes on from there.

        Raises FileError if a file cannot be read or written, or does not follow its format; the message has line and
        column. Raises InputError for a name without a known extension, for an output that is the source, and for
        languages as ``translate`` does.

        >>> result = translator.translate_file(subtitles, output=subtitles.with_name("translated.srt"))
        >>> result.segments[0].target
        'AE1 K AE0 T'
        """
        check_names("translate_file", options, _options.FILES)
        if target is not None and to is not None:
            raise TypeError("target and to are the same option")
        chosen = self._complete(options, source=source, target=target or to, via=via)
        written = b"" if output is None else os.fsencode(_inputs.as_path(output))
        name, report = self._core.translate_file(os.fsencode(_inputs.as_path(path)), written, chosen, on_progress)
        segments = [
            TranslatedSegment(**{"problem": None, **each, "terms": _terms(each.get("terms", ()))})
            for each in json.loads(report)
        ]
        return TranslatedFile(os.fsdecode(name), segments)

    def _complete(self, options: Mapping[str, Any], **languages: str | None) -> dict[str, Any]:
        workers = options.get("workers") or max(each._settings["workers"] for each in self._models)
        return {**options, **languages, "workers": workers}


def _terms(rows: Iterable[dict[str, Any]]) -> list[Term]:
    return [Term(**each) for each in rows]


def _encoded(paths: Iterable[Path]) -> list[bytes]:
    return [os.fsencode(_inputs.as_path(each)) for each in paths]


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, (str, os.PathLike, Model)) else list(given)


def _found(models: Models) -> list[Any]:
    """Returns folders and models. Replaces each pattern by the folders that it matches, in the order of their names."""
    found: list[Any] = []
    for each in _listed(models):
        if isinstance(each, Model) or os.path.isdir(each) or not glob.has_magic(os.fspath(each)):
            found.append(each)
        else:
            found += sorted(folder for folder in glob.glob(os.fspath(each)) if os.path.isdir(folder))
    if not found:
        raise FileError(f"{models}: no folders, expected at least one model")
    return found

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
    """A glossary term or protected term that occurs in a text."""

    #: The term as in the text.
    source: str
    #: The term that the translation must contain.
    target: str
    #: How the term got there: ``"present"`` if the model wrote it by itself, ``"failed"`` if it is missing.
    method: Literal["present", "stand_in", "alignment", "forced", "inserted", "failed"]


@dataclass(frozen=True)
class Translation:
    """The translation of a text."""

    text: str
    #: Further translations, best first.
    alternatives: list[str]
    #: The code of the source language, which may have been detected: ``"de"``.
    source: str
    #: The languages along the route: ``["de", "en", "fr"]``.
    route: list[str]
    terms: list[Term]
    #: Why text may be missing at the end of a sentence, or None.
    problem: str | None = None


@dataclass(frozen=True)
class TranslatedSegment:
    """A text of a file with its translation."""

    #: Where the text is in the file, such as ``"line 12"``.
    where: str
    source: str
    target: str
    terms: list[Term]
    #: Why the translation was not used, or why text may be missing in it, or None.
    problem: str | None


@dataclass(frozen=True)
class TranslatedFile:
    """The result of translating a file."""

    #: The path of the translation.
    output: str
    segments: list[TranslatedSegment]


class Translator:
    """Translates texts and files with one or more models. Thread-safe.

    - ``models``: a checkpoint folder, a pattern such as ``"models/*"``, a ``Model``, or a list of these. If no model
      has both languages, two models are used, through a pivot language.
    - ``languages``: the languages of each model, such as ``"en:fr"`` or ``"en:de,fr"``, if its files do not give
      them; else None.
    - ``glossary``: a dict of terms and translations, a file of them (.csv, or lines of TERM<TAB>TRANSLATION), or a
      list of files. Terms are written as given, without inflection.
    - ``do_not_translate``: a list of terms to leave untranslated, or a file with one per line.
    - ``options``: options of ``Model``, for folders.

    Raises FileError if there is no model, ConfigError if a model's languages are unknown, and InputError for an
    invalid glossary.

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
        """Returns the languages along each possible route.

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

        - ``source``: the source language. None: detected for each text.
        - ``target``: the target language. None: the only one that the models reach.
        - ``via``: the pivot language, or ``"never"`` to use one model only. None: no pivot language if a model has
          both languages, else English, else any.
        - ``html=True``: the texts are HTML, and tags are kept.
        - ``alternatives``: number of further translations.
        - ``split``: what to translate at a time: ``"sentences"``, ``"lines"``, or ``"never"`` for whole texts.
        - ``num_beams``: 1 for greedy search. None: the checkpoint's value.
        - ``batch_size``, ``workers``: do not change results.

        Raises InputError if the models have no route between the languages, and ConfigError for an option out of range.
        Ctrl-C ends the call.

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
        """Runs ``translate`` in a thread of the event loop's executor.

        Cancelling the task does not stop that thread. Calls do not share batches.

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
        """Translates the texts of a file. Everything else in the file stays unchanged.

        - ``target`` or ``to``, ``source``, ``via``, ``split``, ``num_beams``, ``batch_size``, ``workers``: see
          ``translate``. The source language is detected once per file.
        - ``output``: the file to write. None: NAME.LANGUAGE.EXTENSION in the same folder.
        - ``format``: see ``encdec.documents.read``.
        - ``entries``: PO, XLIFF: which entries to translate: ``"untranslated"``, ``"fuzzy"`` (also entries that need
          review) or ``"all"``.
        - ``mark_fuzzy=False``: PO: do not mark new translations as fuzzy.
        - ``xliff_state``: XLIFF 1.2: state of new targets. Default: ``"needs-review-translation"``.
        - ``line_width``: subtitles: characters per line. None: 42, or 16 for Chinese, Japanese and Korean.
        - ``max_lines``: subtitles: maximum number of lines. None: 2.
        - ``join_gap``: subtitles: a pause of this many seconds ends a sentence. Default: 3.0.
        - ``on_progress(done, total)``: called in another thread after every few hundred texts.

        The output appears when it is complete. After Ctrl-C or an error, OUTPUT.progress stores the finished part, and
        the same call resumes from it.

        Raises FileError if a file cannot be read or written, or, with line and column, if it is malformed. Raises
        InputError for an unknown extension, for an output that is the source, and as ``translate`` does.

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
    """Returns folders and models. Replaces each pattern by the matching folders, sorted by name."""
    found: list[Any] = []
    for each in _listed(models):
        if isinstance(each, Model) or os.path.isdir(each) or not glob.has_magic(os.fspath(each)):
            found.append(each)
        else:
            found += sorted(folder for folder in glob.glob(os.fspath(each)) if os.path.isdir(folder))
    if not found:
        raise FileError(f"{models}: no folders, expected at least one model")
    return found

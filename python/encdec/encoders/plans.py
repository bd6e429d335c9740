"""The inputs with which ``classify`` and ``rerank`` call the model, and the results for its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _inputs
from .._errors import ConfigError, InputError
from . import _engine
from .results import Classification, Ranking

if TYPE_CHECKING:
    from ..results import FloatArray


@dataclass(frozen=True)
class Plan:
    """Texts or pairs of texts to score, and the function that converts their scores to results."""

    texts: list[Any]
    seconds: list[Any] | None
    options: dict[str, Any]
    finish: Callable[[Iterable[FloatArray]], Any]


def _labels(classifier: _engine.Classifier) -> dict[str, Any]:
    classifier.classify([], None, {})  # raises ConfigError if the model does not classify texts
    assert classifier.labels is not None
    return classifier.labels


def _best_first(labels: Sequence[str], scores: Sequence[float]) -> Classification:
    order = sorted(range(len(labels)), key=lambda each: -scores[each])
    return Classification([labels[each] for each in order], [float(scores[each]) for each in order])


def classify(classifier: _engine.Classifier, texts: str | Iterable[str], pairs: str | Iterable[str] | None,
             options: Mapping[str, Any]) -> Plan:
    labels: list[str] = _labels(classifier)["labels"]
    inputs, single = _inputs.as_list(texts, "texts")
    seconds = None
    if pairs is not None:
        seconds, single_pair = _inputs.as_list(pairs, "pairs")
        if single != single_pair:
            raise TypeError("texts and pairs: expected one of each, or a list of each")

    def finish(rows: Iterable[FloatArray]) -> Classification | list[Classification]:
        found = [_best_first(labels, row.tolist()) for row in rows]
        return found[0] if single else found

    return Plan(inputs, seconds, dict(options), finish)


def by_labels(classifier: _engine.Classifier, texts: str | Iterable[str], labels: str | Iterable[str], template: str,
              multi_label: bool, options: Mapping[str, Any]) -> Plan:
    _labels(classifier)
    inputs, single = _inputs.as_list(texts, "texts")
    names = [each.strip() for each in labels.split(",") if each.strip()] if isinstance(labels, str) else list(labels)
    sentences = _engine.hypotheses(names, template)

    def finish(rows: Iterable[FloatArray]) -> Classification | list[Classification]:
        lists, found = [row.tolist() for row in rows], []
        for first in range(0, len(lists), len(names)):
            logits = [logit for row in lists[first : first + len(names)] for logit in row]
            found.append(_best_first(names, classifier.candidate_scores(logits, multi_label)))
        return found[0] if single else found

    settings = {"truncation": "only_first", **options, "function_to_apply": "none"}
    return Plan([text for text in inputs for _ in names], sentences * len(inputs), settings, finish)


def rerank(classifier: _engine.Classifier, path: str, query: str, documents: Iterable[str], top_n: int | None,
           raw_scores: bool, options: Mapping[str, Any]) -> Plan:
    facts = _labels(classifier)
    if (count := len(facts["labels"])) != 1:
        raise ConfigError(f"{path}: {count} labels, expected 1: a model that ranks")
    if isinstance(documents, str):
        raise TypeError("documents: expected a list of texts, found a text")
    texts = list(documents)
    if not texts:
        raise InputError("a query without documents, expected at least one")

    def finish(rows: Iterable[FloatArray]) -> list[Ranking]:
        found = [Ranking(index, float(row[0]), texts[index]) for index, row in enumerate(rows)]
        found.sort(key=lambda each: -each.score)  # equal scores stay in order
        return found[:top_n]

    function = "none" if raw_scores else facts["rerank_function"]
    return Plan([query] * len(texts), texts, {**options, "function_to_apply": function}, finish)

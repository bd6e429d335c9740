"""The tasks of encoders at the doors of tests/doors/contract.py, each in the form of the command's JSON."""

from __future__ import annotations

from typing import Any


def without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


def labels(pairs: Any) -> dict[str, Any]:
    return {"labels": [{"label": label, "score": score} for label, score in pairs]}


# Without --all-scores the command writes only the best label.
COMMAND = {
    "classify": lambda door, *request: door.task(["--json", "--all-scores"], *request),
    "embed": lambda door, *request: door.task([], *request),
    "embed_sparse": lambda door, *request: door.task(["--sparse"], *request, command="embed"),
    "rerank": lambda door, *request: door.task(["--json"], *request),
    "tag": lambda door, *request: door.task(["--json"], *request),
}


def http_classify(door: Any, request: Any) -> Any:
    rows = door.post(request, "/predict", {"inputs": [[text] for text in request.input], **request.options})
    return [labels((each["label"], each["score"]) for each in row) for row in rows]


def http_rerank(door: Any, request: Any) -> Any:
    body = {"texts": request.input, "return_text": True, **request.options}
    rows = door.post(request, "/rerank", body)
    return [{"index": each["index"], "score": each["score"], "document": each["text"]} for each in rows]


HTTP = {
    "classify": http_classify,
    "embed": lambda door, request: door.post(
        request, "/embed", {"inputs": request.input, "normalize": False, **request.options}
    ),
    "embed_sparse": lambda door, request: [
        {str(each["index"]): each["value"] for each in row}
        for row in door.post(request, "/embed_sparse", {"inputs": request.input, **request.options})
    ],
    "rerank": http_rerank,
}


def python_tag(model: Any, request: Any) -> Any:
    name = "entity" if request.options.get("aggregation", "none") == "none" else "entity_group"
    return [{"entities": [{name: each.label, "score": each.score, "word": each.word, "start": each.start, "end": each.end}
                          for each in row]} for row in model.tag(request.input, **request.options)]  # fmt: skip


PYTHON = {
    "classify": lambda model, request: [
        labels(zip(each.labels, each.scores)) for each in model.classify(request.input, **request.options)
    ],
    "embed": lambda model, request: model.embed(request.input, **request.options).tolist(),
    "embed_sparse": lambda model, request: [
        dict(zip(map(str, each.token_ids), map(float, each.values)))
        for each in model.embed_sparse(request.input, **request.options)
    ],
    "rerank": lambda model, request: [
        {"index": each.index, "score": each.score, "document": each.document}
        for each in model.rerank(request.options["query"], request.input, **without(request.options, "query"))
    ],
    "tag": python_tag,
}

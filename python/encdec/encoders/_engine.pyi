from typing import Any, final

import numpy
import numpy.typing

from .._encdec import Inbox, Model, Request, RequestQueue

@final
class Classifier:
    def __init__(self, model: Model) -> None: ...
    def classify(
        self, texts: list[Any], seconds: list[Any] | None, options: Any
    ) -> numpy.typing.NDArray[numpy.float32]: ...
    def tag(self, texts: list[Any], options: Any) -> list[list[dict[str, Any]]]: ...
    def candidate_scores(self, logits: list[float], multi_label: bool) -> list[float]: ...
    @property
    def labels(self) -> dict[str, Any] | None: ...

def hypotheses(labels: list[str], pattern: str) -> list[str]: ...
def embed(model: Model, texts: list[Any], options: Any) -> Any: ...
def submit_embed(
    queue: RequestQueue, inbox: Inbox, number: int, model: Model, texts: list[Any], options: Any
) -> Request: ...
def submit_classify(
    queue: RequestQueue, inbox: Inbox, number: int, classifier: Classifier, texts: list[Any],
    seconds: list[Any] | None, options: Any
) -> Request: ...  # fmt: skip
def submit_tag(
    queue: RequestQueue, inbox: Inbox, number: int, classifier: Classifier, texts: list[Any], options: Any
) -> Request: ...

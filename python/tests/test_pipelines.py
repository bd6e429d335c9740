"""Pipelines return the values of the pipelines of transformers 4."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import encdec


def test_translation(path: Path, model: encdec.Model) -> None:
    translate = encdec.pipeline("translation", model=path)
    assert translate("cat") == [{"translation_text": "K AE1 T"}]
    assert translate(["cat", "dog"]) == [{"translation_text": "K AE1 T"}, {"translation_text": "D AO1 G"}]
    two = translate("cat", num_beams=2, num_return_sequences=2)
    assert [list(each) for each in two] == [["translation_text"]] * 2
    nested = translate(["cat", "dog"], num_beams=2, num_return_sequences=2)
    assert [len(each) for each in nested] == [2, 2] and nested[0] == two
    ids = translate("cat", return_tensors=True)
    assert ids == [{"translation_token_ids": model.generate("cat")[0].hypotheses[0].token_ids}]
    assert list(translate(each for each in ["cat"])) == [[{"translation_text": "K AE1 T"}]]
    assert encdec.pipeline("translation_en_to_fr", model=path)("cat") == [{"translation_text": "K AE1 T"}]


def test_other_tasks_name_their_values(model: encdec.Model) -> None:
    assert encdec.pipeline("summarization", model)("cat") == [{"summary_text": "K AE1 T"}]
    assert encdec.pipeline("text2text-generation", model=model)("cat") == [{"generated_text": "K AE1 T"}]
    with pytest.raises(encdec.ConfigError, match="'text-generation', expected one of translation"):
        encdec.pipeline("text-generation", model)
    with pytest.raises(TypeError):
        encdec.pipeline("translation", model, precision="int8")
    assert encdec.pipeline("translation", model).model is model


def test_the_task_of_config_json_is_obeyed(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(path, folder)
    config = json.loads((folder / "config.json").read_text())
    config["task_specific_params"] = {"summarization": {"prefix": "dog", "max_length": 4, "num_beams": 2}}
    (folder / "config.json").write_text(json.dumps(config))
    model = encdec.Model(folder)
    expected = model.translate("dogcat", max_length=4, num_beams=2)
    assert encdec.pipeline("summarization", model)("cat") == [{"summary_text": expected}]
    assert encdec.pipeline("translation", model)("cat") == [{"translation_text": "K AE1 T"}]


def test_languages_of_a_task_reach_the_tokenizer(golden: Callable[[str], encdec.Model]) -> None:
    pipeline = encdec.pipeline("translation_xx_to_yy", golden("m2m_100/forced_bos"))
    assert pipeline.task == "translation_xx_to_yy"

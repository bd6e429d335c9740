"""Results: attention, arrays, tokenizers, and properties of models."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

import encdec


def test_arrays_outlive_their_model(path: Path) -> None:
    model = encdec.Model(path)
    logits = model.forward([[5, 6, 0]], [[71, 3]]).logits
    assert logits is not None
    expected = logits.copy()
    del model
    assert (logits == expected).all()


def test_numpy_is_imported_only_for_arrays(path: Path) -> None:
    code = (
        "import encdec, sys; model = encdec.Model(sys.argv[1]); model.translate('cat'); model.score('cat', 'K');"
        "''.join(model.stream('cat')); assert 'numpy' not in sys.modules and 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def test_forward_gives_padded_rows(model: encdec.Model, golden: Callable[[str], encdec.Model]) -> None:
    result = model.forward([[5, 6, 0], [5, 0]], [[71], [71, 3]])
    assert result.logits is not None and result.encoder_last_hidden_state is not None
    assert result.logits.shape == (2, 2, 72) and result.encoder_last_hidden_state.shape == (2, 3, 128)
    assert not result.logits[0, 1].any() and not result.encoder_last_hidden_state[1, 2].any()
    assert repr(result) == "ForwardResult(logits 2x2x72, encoder_last_hidden_state 2x3x128)"
    only = golden("bert/base").forward([[1, 2, 3]])
    assert only.logits is None and only.encoder_last_hidden_state is not None


def test_attention_has_a_map_of_each_kind(model: encdec.Model) -> None:
    attention = model.attention("cat", "K AE1 T")
    assert sorted(attention.maps) == ["cross", "decoder", "encoder"]
    cross = attention.maps["cross"]
    assert cross.shape == (4, 4, len(attention.target), len(attention.source))
    assert numpy.allclose(cross.sum(axis=-1), 1, atol=1e-5)
    assert attention.source == ["▁", "c", "a", "t", "</s>"]
    generated = model.generate("cat", attention=True)[0].hypotheses[0]
    assert generated.attention is not None
    assert generated.attention.maps["cross"].tobytes() == cross.tobytes()
    assert generated.attention.target_ids == generated.token_ids
    mean = model.attention("cat", "K AE1 T", kinds="cross", layers="mean", heads=-1)
    assert list(mean.maps) == ["cross"] and mean.maps["cross"].shape[:2] == (1, 1)


def test_attention_shows_itself(model: encdec.Model) -> None:
    attention = model.attention("a<b", "K")
    assert repr(attention) == "Attention(encoder 4x4x5x5, decoder 4x4x2x2, cross 4x4x2x5)"
    page = attention._repr_html_()
    assert page == attention.svg() and page.startswith("<svg") and page.endswith("</svg>\n")
    assert "&lt;" in page and "<b" not in page and "source tokens read" in page
    assert "source tokens encoded" in attention.svg("encoder")
    for draw in (attention.picture, attention.svg):
        with pytest.raises(ValueError, match="kind is 'side'"):
            draw("side")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    axes = attention.plot()
    assert len(axes.get_yticks()) == len(attention.target)
    pyplot.close("all")


def test_finish_reasons_and_counts(model: encdec.Model) -> None:
    long, short = model.generate("photography")[0], model.generate("photography", max_new_tokens=2)[0]
    assert long.hypotheses[0].finish_reason == "stop" and short.hypotheses[0].finish_reason == "length"
    assert long.source_tokens == len("photography") + 2 and not long.source_truncated
    assert long.text == long.hypotheses[0].text


def test_tokenizer(model: encdec.Model, golden: Callable[[str], encdec.Model]) -> None:
    tokenizer = model.tokenizer
    assert tokenizer is not None
    ids = tokenizer.encode("cat")
    assert tokenizer.pieces(ids, "source") == ["▁", "c", "a", "t", "</s>"]
    assert tokenizer.decode(tokenizer.encode_target("K AE1 T")) == "K AE1 T"
    assert tokenizer.decode(numpy.array(tokenizer.encode_target("K AE1 T"))) == "K AE1 T"
    assert tokenizer.token_id("</s>") == 0 and tokenizer.token_id("no such") is None
    assert tokenizer.languages == [] and tokenizer.language_token("fr") is None
    assert tokenizer.vocabulary_size() == tokenizer.vocabulary_size("source") == 72
    assert "72 tokens" in repr(tokenizer)
    assert golden("marian/untied").tokenizer is None


def test_models_tell_what_they_are(model: encdec.Model, path: Path) -> None:
    assert model.path == str(path) and model.precision == "float32" and model.notes == []
    assert model.config["architecture"] == "encoder-decoder" and model.config["encoder"]["layers"] == 4
    assert model.generation_config["max_length"] == 64 and model.generation_config["bad_words_ids"] == [[71]]
    assert encdec.Model(path, backend="onednn").backend.startswith("onednn")
    reduced = encdec.Model(path, precision="int8")
    assert reduced.precision == "int8" and encdec.Model(path, precision="auto").precision in ("int8", "bfloat16", "float32")
    assert reduced.fingerprint() != model.fingerprint() == encdec.Model(path, threads=1).fingerprint()
    assert encdec.build_info()["version"] == encdec.__version__


def test_weights_cache_is_used(path: Path, tmp_path: Path) -> None:
    first = encdec.Model(path, weights_cache=tmp_path / "cache").translate("cat")
    assert len(list((tmp_path / "cache").iterdir())) == 1
    assert encdec.Model(path, weights_cache=tmp_path / "cache").translate("cat") == first


def test_results_of_slices_are_found_where_earlier_versions_had_them() -> None:
    for name in encdec.__all__:
        module = getattr(getattr(encdec, name), "__module__", "").split(".")
        if len(module) == 3:
            assert getattr(importlib.import_module(f"encdec.{module[2]}"), name) is getattr(encdec, name)
            assert getattr(encdec, module[2]) is importlib.import_module(f"encdec.{module[2]}")

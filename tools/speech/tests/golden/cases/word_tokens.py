"""Tokens and the words that openai/whisper makes of them: tokens of texts, and random tokens that are not valid text."""

import numpy as np
from whisper.tokenizer import get_tokenizer

TEXTS = {
    "en": [
        "", " Hello", " Hello, world! It's 5 o'clock -- \"so\" (they say)...",
        " A family 👨‍👩‍👧 and a flag 🏴󠁧󠁢󠁳󠁣󠁴󠁿, naïve café.", "Unspaced start; tabs\tand\nlines\u3000and  blanks   .",
        " what U+FFFD \ufffd is \ufffd\ufffd in the text",
    ],  # fmt: skip
    "de": [" Überraschungsgäste grüßen: »Schön!«"],
    "ja": ["こんにちは、世界。今日は「晴れ」です！", " 東京 2024年 🎌龘"],
    "zh": ["你好，世界？𠮷野家"],
    "yue": ["佢哋喺度 OK"],
    "th": ["สวัสดีครับ"],
    "my": ["မင်္ဂလာပါ"],
    "lo": ["ສະບາຍດີ"],
    "ar": [" مرحبا بالعالم"],
}


def tokenizer_of(language):
    return get_tokenizer(True, num_languages=100, language=language)


def case(language, tokens):
    tokenizer = tokenizer_of(language)
    tokens = [*tokens, tokenizer.eot]
    words, word_tokens = tokenizer.split_to_word_tokens(tokens)
    pieces = {str(token): tokenizer.encoding.decode_single_token_bytes(token).hex() for token in sorted(set(tokens))}
    words = [{"text": word, "tokens": own} for word, own in zip(words, word_tokens, strict=True)]
    return {"language": language, "eot": tokenizer.eot, "tokens": tokens, "bytes": pieces, "words": words}


def cases():
    for language, texts in TEXTS.items():
        for text in texts:
            yield case(language, tokenizer_of(language).encode(text))
    # Single bytes and parts of characters, in any order.
    encoding = tokenizer_of("en").encoding
    broken = [token for token in range(50256) if "\ufffd" in encoding.decode([token])]
    random = np.random.default_rng(1)
    for language in ("en", "ja"):
        for size in (1, 2, 3, 5, 9, 20):
            from_any = random.integers(0, 50256, size)
            from_broken = random.choice(broken, size)
            yield case(language, np.where(random.random(size) < 0.7, from_broken, from_any).tolist())

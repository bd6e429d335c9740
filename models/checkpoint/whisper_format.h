#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/json.h"

namespace encdec {

// What is the same in all models of Whisper (Radford et al. 2023), for formats whose files do not say it.

// The sizes of a model by the names of openai/whisper (model.py, ModelDimensions): n_mels, n_audio_ctx, n_audio_state,
// n_audio_head, n_audio_layer, n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer. Throws FileError, naming
// `file`, for one that is missing or that no model comes near.
JsonObject whisper_sizes(const std::map<std::string, std::int64_t, std::less<>>& sizes, const std::string& file);

struct WhisperLanguage {
  std::string_view code;  // "en"
  std::string_view name;  // "english"
};
// In the order of their tokens. The last came with large-v3: earlier models have one fewer.
std::span<const WhisperLanguage> whisper_languages();
// The English name of a code; empty if it is not known.
std::string_view whisper_language_name(std::string_view code);
// The code of a language by its code, its English name, or another name that openai/whisper takes, in capitals or not;
// nullopt if it is not known.
std::optional<std::string_view> whisper_language_code(std::string_view language);

// How many tokens of a vocabulary of this size stand for text; nullopt for sizes that no published model has.
std::optional<std::int64_t> whisper_text_tokens(std::int64_t vocabulary);

// The names of `count` tokens behind those for text (tokenizer.py, get_encoding): "<|endoftext|>",
// "<|startoftranscript|>", languages as "<|en|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>",
// "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>", and times as "<|0.00|>", "<|0.02|>", ... "<|30.00|>"; fewer if
// `count` is larger than that.
std::vector<std::string> whisper_special_tokens(std::int64_t count);
inline constexpr std::string_view kWhisperEnd = "<|endoftext|>";
inline constexpr std::string_view kWhisperStart = "<|startoftranscript|>";

// A config.json for models that have none: model_type, tokens that have a meaning, as far as they are known, and the
// longest text. `text_tokens`: how many tokens stand for text.
JsonObject whisper_settings(const JsonObject& sizes, std::optional<std::int64_t> text_tokens);

}  // namespace encdec

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

// Facts that hold for all Whisper models (Radford et al. 2023), for formats whose files do not contain them.

// Returns the sizes of a model, with the names of openai/whisper (model.py, ModelDimensions): n_mels, n_audio_ctx,
// n_audio_state, n_audio_head, n_audio_layer, n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer. Throws
// FileError, naming `file`, if a size is missing or far from that of any model.
JsonObject whisper_sizes(const std::map<std::string, std::int64_t, std::less<>>& sizes, const std::string& file);

struct WhisperLanguage {
  std::string_view code;  // "en"
  std::string_view name;  // "english"
};
// Returns the languages in the order of their tokens. The last one was added with large-v3; earlier models do not have
// it.
std::span<const WhisperLanguage> whisper_languages();
// Returns the English name of the language with this code; empty if unknown.
std::string_view whisper_language_name(std::string_view code);
// Returns the code of a language, given its code, its English name, or another name that openai/whisper accepts; upper
// and lower case are equal. nullopt if unknown.
std::optional<std::string_view> whisper_language_code(std::string_view language);

// Returns the number of text tokens in a vocabulary of this size; nullopt for a size below that of every published
// model.
std::optional<std::int64_t> whisper_text_tokens(std::int64_t vocabulary);

// Returns the names of the first `count` tokens after the text tokens (tokenizer.py, get_encoding), or of all of them
// if there are fewer: "<|endoftext|>", "<|startoftranscript|>", languages as "<|en|>", "<|translate|>",
// "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>", and times as "<|0.00|>",
// "<|0.02|>", ... "<|30.00|>".
std::vector<std::string> whisper_special_tokens(std::int64_t count);
inline constexpr std::string_view kWhisperEnd = "<|endoftext|>";
inline constexpr std::string_view kWhisperStart = "<|startoftranscript|>";

// Returns a config.json for a model without one: model_type, the maximum length of a text and, if `text_tokens` (the
// number of text tokens) is known, the special tokens.
JsonObject whisper_settings(const JsonObject& sizes, std::optional<std::int64_t> text_tokens);

}  // namespace encdec

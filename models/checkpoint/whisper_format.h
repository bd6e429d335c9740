#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Facts about all Whisper models (Radford et al. 2023) that some formats' files do not contain.

struct WhisperLanguage {
  std::string_view code;  // "en"
  std::string_view name;  // "english"
};
// Returns the languages in the order of their tokens. Models before large-v3 lack the last one.
std::span<const WhisperLanguage> whisper_languages();
// Returns the English name of a language code; empty if unknown.
std::string_view whisper_language_name(std::string_view code);
// Returns the code of a language; nullopt if unknown. `language` is the code, the English name, or
// another name that openai/whisper accepts, in upper or lower case.
std::optional<std::string_view> whisper_language_code(std::string_view language);

// Returns the number of text tokens in a vocabulary of this size; nullopt if the vocabulary is
// smaller than in every published model.
std::optional<std::int64_t> whisper_text_tokens(std::int64_t vocabulary);

// Returns the names of the first `count` tokens after the text tokens (openai/whisper,
// tokenizer.py, get_encoding), or of all if there are fewer: "<|endoftext|>",
// "<|startoftranscript|>", languages such as "<|en|>", "<|translate|>", "<|transcribe|>",
// "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>", and the timestamps
// "<|0.00|>", "<|0.02|>", ... "<|30.00|>".
std::vector<std::string> whisper_special_tokens(std::int64_t count);
inline constexpr std::string_view kWhisperEnd = "<|endoftext|>";
inline constexpr std::string_view kWhisperStart = "<|startoftranscript|>";

}  // namespace encdec

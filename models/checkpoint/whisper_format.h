#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Facts that hold for all Whisper models (Radford et al. 2023), for formats whose files do not contain them.

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

}  // namespace encdec

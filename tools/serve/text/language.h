#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::serve {

// The spelling by which codes of models, clients and detectors are compared: ISO 639-1 where a language has one, else
// 639-3, with the script where it is not the usual one. "fra_Latn", "fr_XX", ">>fra<<" and "FR-ca" are "fr", "zho_Hant"
// and "zh-TW" are "zh-Hant". What is no such code stays, in lower case.
std::string canonical_language(std::string_view code);

// In English: "French"; the code where it has no name.
std::string language_name(const std::string& canonical);

// Whether its sentences stand side by side without a space: Chinese, Japanese, Thai.
bool is_written_without_spaces(const std::string& canonical);

// What a text may be written in.
struct DetectedLanguage {
  std::string language;     // canonical
  double confidence = 0.0;  // 0 to 100
};

// The likeliest first, only of these; all with confidence 0 where the text tells nothing. Compact Language Detector 2.
std::vector<DetectedLanguage> detect_languages(const std::string& text, std::span<const std::string> among,
                                               bool is_html = false);

}  // namespace encdec::serve

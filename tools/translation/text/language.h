#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Returns the canonical form of a language code, in which codes are compared: the ISO 639-1 code, else the 639-3 code.
// Adds the script if it is not the usual script of the language:
// - "fr" for "fra_Latn", "fr_XX", ">>fra<<" and "FR-ca",
// - "zh-Hant" for "zho_Hant" and "zh-TW".
// Returns any other text in lower case.
std::string canonical_language(std::string_view code);

// Returns the English name of a language, such as "French", or the code if it has no name.
std::string language_name(const std::string& canonical);

// Returns true if a language has no spaces between sentences, such as Chinese, Japanese or Thai.
bool is_written_without_spaces(const std::string& canonical);

// Returns a case-folded text (Unicode's full case folding).
std::string without_case(std::string_view text);

struct DetectedLanguage {
  std::string language;     // canonical code
  double confidence = 0.0;  // 0 to 100
};

// Ranks the languages in `among`, most probable first, with Compact Language Detector 2. Languages that were not
// detected have confidence 0.
std::vector<DetectedLanguage> detect_languages(const std::string& text, std::span<const std::string> among,
                                               bool is_html = false);

}  // namespace encdec

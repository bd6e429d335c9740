#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Returns the canonical form of a language code, by which codes of models, clients and detectors are compared. It is
// the ISO 639-1 code, or the 639-3 code if there is none, with the script if that is not the usual one:
// - "fr" for "fra_Latn", "fr_XX", ">>fra<<" and "FR-ca",
// - "zh-Hant" for "zho_Hant" and "zh-TW".
// Returns any other text in lower case.
std::string canonical_language(std::string_view code);

// Returns the English name of a language: "French". Returns the code if the language has no name.
std::string language_name(const std::string& canonical);

// Returns whether the language has no spaces between sentences, like Chinese, Japanese and Thai.
bool is_written_without_spaces(const std::string& canonical);

// Returns a text without differences of case (Unicode's full case folding).
std::string without_case(std::string_view text);

// A language in which a text may be written.
struct DetectedLanguage {
  std::string language;     // canonical code
  double confidence = 0.0;  // 0 to 100
};

// Returns the languages `among`, most probable first, by Compact Language Detector 2. Languages that the detector does
// not find in the text have confidence 0.
std::vector<DetectedLanguage> detect_languages(const std::string& text, std::span<const std::string> among,
                                               bool is_html = false);

}  // namespace encdec

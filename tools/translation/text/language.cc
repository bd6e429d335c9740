#include "encdec/translation/text/language.h"

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>
#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// Returns a locale with the usual script of its language (CLDR's likely subtags).
icu::Locale with_likely_script(icu::Locale locale) {
  UErrorCode error = U_ZERO_ERROR;
  locale.addLikelySubtags(error);
  return locale;
}

}  // namespace

std::string canonical_language(std::string_view code) {
  constexpr std::size_t kMarks = 4;  // size of ">>" and "<<"
  if (code.size() > kMarks && code.starts_with(">>") && code.ends_with("<<"))
    code = code.substr(2, code.size() - kMarks);
  std::string plain(code);
  std::ranges::replace(plain, '-', '_');
  if (plain.ends_with("_XX")) plain.resize(plain.size() - 3);  // codes of mBART, such as en_XX
  const icu::Locale locale = icu::Locale::createCanonical(plain.c_str());
  const std::string language = locale.getLanguage();
  constexpr std::size_t kLongest = 3;  // maximum size of an ISO 639 code
  if (locale.isBogus() != 0 || language.empty() || language.size() > kLongest) return lower_case(code);
  const std::string script = with_likely_script(locale).getScript();
  const bool is_usual = script == with_likely_script(icu::Locale(language.c_str())).getScript();
  return is_usual ? language : language + "-" + script;
}

std::string language_name(const std::string& canonical) {
  icu::UnicodeString name;
  icu::Locale(canonical.c_str()).getDisplayName(icu::Locale::getEnglish(), name);
  std::string utf8;
  name.toUTF8String(utf8);
  return utf8;
}

bool is_written_without_spaces(const std::string& canonical) {
  constexpr std::array<std::string_view, 6> kLanguages = {"zh", "zh-Hant", "ja", "th", "lo", "km"};
  return std::ranges::find(kLanguages, canonical) != kLanguages.end();
}

std::string without_case(std::string_view text) {
  std::string folded;
  icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())}).foldCase().toUTF8String(folded);
  return folded;
}

std::vector<DetectedLanguage> detect_languages(const std::string& text, std::span<const std::string> among,
                                               bool is_html) {
  std::array<CLD2::Language, 3> languages = {};
  std::array<int, 3> percents = {};
  std::array<double, 3> scores = {};
  int text_bytes = 0, valid_bytes = 0;
  bool is_reliable = false;
  const CLD2::CLDHints hints = {nullptr, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  CLD2::ExtDetectLanguageSummaryCheckUTF8(text.data(), static_cast<int>(text.size()), !is_html, &hints,
                                          CLD2::kCLDFlagBestEffort, languages.data(), percents.data(), scores.data(),
                                          nullptr, &text_bytes, &is_reliable, &valid_bytes);
  std::vector<DetectedLanguage> found;
  const auto is_found = [&found](const std::string& language) {
    return std::ranges::find(found, language, &DetectedLanguage::language) != found.end();
  };
  for (std::size_t i = 0; i < languages.size(); ++i) {
    const std::string language = canonical_language(CLD2::LanguageCode(languages[i]));
    if (percents[i] == 0 || is_found(language) || std::ranges::find(among, language) == among.end()) continue;
    found.push_back({language, static_cast<double>(percents[i])});
  }
  for (const std::string& language : among) {
    if (!is_found(language)) found.push_back({language, 0.0});
  }
  return found;
}

}  // namespace encdec

#include "encdec/models/checkpoint/whisper_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace encdec {
namespace {

// LANGUAGES of openai/whisper (whisper/tokenizer.py), in the order of their tokens.
constexpr std::array<WhisperLanguage, 100> kLanguages = {{
    {"en", "english"},        {"zh", "chinese"},       {"de", "german"},    {"es", "spanish"},    {"ru", "russian"},
    {"ko", "korean"},         {"fr", "french"},        {"ja", "japanese"},  {"pt", "portuguese"}, {"tr", "turkish"},
    {"pl", "polish"},         {"ca", "catalan"},       {"nl", "dutch"},     {"ar", "arabic"},     {"sv", "swedish"},
    {"it", "italian"},        {"id", "indonesian"},    {"hi", "hindi"},     {"fi", "finnish"},    {"vi", "vietnamese"},
    {"he", "hebrew"},         {"uk", "ukrainian"},     {"el", "greek"},     {"ms", "malay"},      {"cs", "czech"},
    {"ro", "romanian"},       {"da", "danish"},        {"hu", "hungarian"}, {"ta", "tamil"},      {"no", "norwegian"},
    {"th", "thai"},           {"ur", "urdu"},          {"hr", "croatian"},  {"bg", "bulgarian"},  {"lt", "lithuanian"},
    {"la", "latin"},          {"mi", "maori"},         {"ml", "malayalam"}, {"cy", "welsh"},      {"sk", "slovak"},
    {"te", "telugu"},         {"fa", "persian"},       {"lv", "latvian"},   {"bn", "bengali"},    {"sr", "serbian"},
    {"az", "azerbaijani"},    {"sl", "slovenian"},     {"kn", "kannada"},   {"et", "estonian"},   {"mk", "macedonian"},
    {"br", "breton"},         {"eu", "basque"},        {"is", "icelandic"}, {"hy", "armenian"},   {"ne", "nepali"},
    {"mn", "mongolian"},      {"bs", "bosnian"},       {"kk", "kazakh"},    {"sq", "albanian"},   {"sw", "swahili"},
    {"gl", "galician"},       {"mr", "marathi"},       {"pa", "punjabi"},   {"si", "sinhala"},    {"km", "khmer"},
    {"sn", "shona"},          {"yo", "yoruba"},        {"so", "somali"},    {"af", "afrikaans"},  {"oc", "occitan"},
    {"ka", "georgian"},       {"be", "belarusian"},    {"tg", "tajik"},     {"sd", "sindhi"},     {"gu", "gujarati"},
    {"am", "amharic"},        {"yi", "yiddish"},       {"lo", "lao"},       {"uz", "uzbek"},      {"fo", "faroese"},
    {"ht", "haitian creole"}, {"ps", "pashto"},        {"tk", "turkmen"},   {"nn", "nynorsk"},    {"mt", "maltese"},
    {"sa", "sanskrit"},       {"lb", "luxembourgish"}, {"my", "myanmar"},   {"bo", "tibetan"},    {"tl", "tagalog"},
    {"mg", "malagasy"},       {"as", "assamese"},      {"tt", "tatar"},     {"haw", "hawaiian"},  {"ln", "lingala"},
    {"ha", "hausa"},          {"ba", "bashkir"},       {"jw", "javanese"},  {"su", "sundanese"},  {"yue", "cantonese"},
}};

// The additional names in TO_LANGUAGE_CODE of openai/whisper (whisper/tokenizer.py).
constexpr std::array<WhisperLanguage, 12> kOtherNames = {{
    {"my", "burmese"},
    {"ca", "valencian"},
    {"nl", "flemish"},
    {"ht", "haitian"},
    {"lb", "letzeburgesch"},
    {"ps", "pushto"},
    {"pa", "panjabi"},
    {"ro", "moldavian"},
    {"ro", "moldovan"},
    {"si", "sinhalese"},
    {"es", "castilian"},
    {"zh", "mandarin"},
}};

constexpr std::array<std::string_view, 6> kTasks = {"translate",   "transcribe", "startoflm",
                                                    "startofprev", "nospeech",   "notimestamps"};

// Number of timestamps: from 0 s to 30 s in steps of 20 ms.
constexpr std::int64_t kTimes = 1501;
// The 2 are the end token and the start token.
constexpr std::int64_t kAllSpecialTokens = 2 + std::ssize(kLanguages) + std::ssize(kTasks) + kTimes;

// Size of the vocabulary of the English-only models. They have one text token fewer than the multilingual models.
constexpr std::int64_t kEnglishVocabulary = 51864;
constexpr std::int64_t kEnglishTexts = 50256;
constexpr std::int64_t kTexts = 50257;  // text tokens of the multilingual models

}  // namespace

std::span<const WhisperLanguage> whisper_languages() {
  return kLanguages;
}

std::string_view whisper_language_name(std::string_view code) {
  const auto found = std::ranges::find(kLanguages, code, &WhisperLanguage::code);
  return found == kLanguages.end() ? std::string_view() : found->name;
}

std::optional<std::string_view> whisper_language_code(std::string_view language) {
  std::string lower(language);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const auto is_meant = [&](const WhisperLanguage& one) { return one.code == lower || one.name == lower; };
  if (const auto found = std::ranges::find_if(kLanguages, is_meant); found != kLanguages.end()) return found->code;
  const auto other = std::ranges::find(kOtherNames, std::string_view(lower), &WhisperLanguage::name);
  return other != kOtherNames.end() ? std::optional(other->code) : std::nullopt;
}

std::optional<std::int64_t> whisper_text_tokens(std::int64_t vocabulary) {
  if (vocabulary < kEnglishVocabulary) return std::nullopt;
  return vocabulary == kEnglishVocabulary ? kEnglishTexts : kTexts;
}

std::vector<std::string> whisper_special_tokens(std::int64_t count) {
  std::vector<std::string> names = {std::string(kWhisperEnd), std::string(kWhisperStart)};
  // Models before large-v3 have one language fewer.
  const std::size_t languages = kLanguages.size() - (count < kAllSpecialTokens ? 1 : 0);
  for (const WhisperLanguage& language : std::span(kLanguages).first(languages)) {
    names.push_back(fmt::format("<|{}|>", language.code));
  }
  for (const std::string_view task : kTasks) names.push_back(fmt::format("<|{}|>", task));
  for (std::int64_t i = 0; i < kTimes; ++i) names.push_back(fmt::format("<|{}.{:02}|>", i / 50, i % 50 * 2));
  names.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, std::ssize(names))));
  return names;
}

}  // namespace encdec

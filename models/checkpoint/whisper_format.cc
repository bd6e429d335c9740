#include "encdec/models/checkpoint/whisper_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace encdec {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 10> kLargestSizes = {{{"n_mels", 1 << 10},
                                                                                      {"n_audio_ctx", 1 << 20},
                                                                                      {"n_audio_state", 1 << 20},
                                                                                      {"n_audio_head", 1 << 20},
                                                                                      {"n_audio_layer", 1 << 10},
                                                                                      {"n_vocab", 10'000'000},
                                                                                      {"n_text_ctx", 1 << 20},
                                                                                      {"n_text_state", 1 << 20},
                                                                                      {"n_text_head", 1 << 20},
                                                                                      {"n_text_layer", 1 << 10}}};

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

// Timestamps from 0 s to 30 s in steps of 20 ms.
constexpr std::int64_t kTimes = 1501;
// The 2 are the end and the start of a text.
constexpr std::int64_t kAllSpecialTokens = 2 + std::ssize(kLanguages) + std::ssize(kTasks) + kTimes;

constexpr std::int64_t kEnglishVocabulary = 51864;
constexpr std::int64_t kEnglishTexts = 50256;
constexpr std::int64_t kTexts = 50257;  // text tokens of the multilingual models

}  // namespace

JsonObject whisper_sizes(const std::map<std::string, std::int64_t, std::less<>>& sizes, const std::string& file) {
  nlohmann::json checked = nlohmann::json::object();
  for (const auto& [name, largest] : kLargestSizes) {
    const auto size = sizes.find(name);
    if (size == sizes.end()) refuse(file, "no {} among the sizes, expected those of a model of Whisper", name);
    if (size->second < 1 || size->second > largest) {
      refuse(file, "{} is {}, expected 1 to {} as in a model of Whisper", name, size->second, largest);
    }
    checked[std::string(name)] = size->second;
  }
  return JsonObject(std::move(checked), file);
}

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
  const std::size_t languages = kLanguages.size() - (count < kAllSpecialTokens ? 1 : 0);
  for (const WhisperLanguage& language : std::span(kLanguages).first(languages)) {
    names.push_back(fmt::format("<|{}|>", language.code));
  }
  for (const std::string_view task : kTasks) names.push_back(fmt::format("<|{}|>", task));
  for (std::int64_t i = 0; i < kTimes; ++i) names.push_back(fmt::format("<|{}.{:02}|>", i / 50, i % 50 * 2));
  names.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, std::ssize(names))));
  return names;
}

JsonObject whisper_settings(const JsonObject& sizes, std::optional<std::int64_t> text_tokens) {
  nlohmann::json settings = nlohmann::json::object();
  settings["model_type"] = "whisper";
  settings["max_length"] = sizes.required_integer("n_text_ctx");
  if (text_tokens && *text_tokens + 1 < sizes.required_integer("n_vocab")) {
    for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id"}) settings[key] = *text_tokens;
    settings["decoder_start_token_id"] = *text_tokens + 1;
  }
  return JsonObject(std::move(settings), sizes.file());
}

}  // namespace encdec

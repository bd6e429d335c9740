#include "encdec/models/transcription/whisper_tokens.h"

#include <algorithm>
#include <array>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"

namespace encdec {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

// Code and English name, in the order of their tokens.
constexpr std::array<Name, 100> kLanguages = {
    {Name{"en", "english"},        Name{"zh", "chinese"},     Name{"de", "german"},        Name{"es", "spanish"},
     Name{"ru", "russian"},        Name{"ko", "korean"},      Name{"fr", "french"},        Name{"ja", "japanese"},
     Name{"pt", "portuguese"},     Name{"tr", "turkish"},     Name{"pl", "polish"},        Name{"ca", "catalan"},
     Name{"nl", "dutch"},          Name{"ar", "arabic"},      Name{"sv", "swedish"},       Name{"it", "italian"},
     Name{"id", "indonesian"},     Name{"hi", "hindi"},       Name{"fi", "finnish"},       Name{"vi", "vietnamese"},
     Name{"he", "hebrew"},         Name{"uk", "ukrainian"},   Name{"el", "greek"},         Name{"ms", "malay"},
     Name{"cs", "czech"},          Name{"ro", "romanian"},    Name{"da", "danish"},        Name{"hu", "hungarian"},
     Name{"ta", "tamil"},          Name{"no", "norwegian"},   Name{"th", "thai"},          Name{"ur", "urdu"},
     Name{"hr", "croatian"},       Name{"bg", "bulgarian"},   Name{"lt", "lithuanian"},    Name{"la", "latin"},
     Name{"mi", "maori"},          Name{"ml", "malayalam"},   Name{"cy", "welsh"},         Name{"sk", "slovak"},
     Name{"te", "telugu"},         Name{"fa", "persian"},     Name{"lv", "latvian"},       Name{"bn", "bengali"},
     Name{"sr", "serbian"},        Name{"az", "azerbaijani"}, Name{"sl", "slovenian"},     Name{"kn", "kannada"},
     Name{"et", "estonian"},       Name{"mk", "macedonian"},  Name{"br", "breton"},        Name{"eu", "basque"},
     Name{"is", "icelandic"},      Name{"hy", "armenian"},    Name{"ne", "nepali"},        Name{"mn", "mongolian"},
     Name{"bs", "bosnian"},        Name{"kk", "kazakh"},      Name{"sq", "albanian"},      Name{"sw", "swahili"},
     Name{"gl", "galician"},       Name{"mr", "marathi"},     Name{"pa", "punjabi"},       Name{"si", "sinhala"},
     Name{"km", "khmer"},          Name{"sn", "shona"},       Name{"yo", "yoruba"},        Name{"so", "somali"},
     Name{"af", "afrikaans"},      Name{"oc", "occitan"},     Name{"ka", "georgian"},      Name{"be", "belarusian"},
     Name{"tg", "tajik"},          Name{"sd", "sindhi"},      Name{"gu", "gujarati"},      Name{"am", "amharic"},
     Name{"yi", "yiddish"},        Name{"lo", "lao"},         Name{"uz", "uzbek"},         Name{"fo", "faroese"},
     Name{"ht", "haitian creole"}, Name{"ps", "pashto"},      Name{"tk", "turkmen"},       Name{"nn", "nynorsk"},
     Name{"mt", "maltese"},        Name{"sa", "sanskrit"},    Name{"lb", "luxembourgish"}, Name{"my", "myanmar"},
     Name{"bo", "tibetan"},        Name{"tl", "tagalog"},     Name{"mg", "malagasy"},      Name{"as", "assamese"},
     Name{"tt", "tatar"},          Name{"haw", "hawaiian"},   Name{"ln", "lingala"},       Name{"ha", "hausa"},
     Name{"ba", "bashkir"},        Name{"jw", "javanese"},    Name{"su", "sundanese"},     Name{"yue", "cantonese"}}};

// Other names of them.
constexpr std::array<Name, 12> kAliases = {{
    Name{"my", "burmese"},
    Name{"ca", "valencian"},
    Name{"nl", "flemish"},
    Name{"ht", "haitian"},
    Name{"lb", "letzeburgesch"},
    Name{"ps", "pushto"},
    Name{"pa", "panjabi"},
    Name{"ro", "moldavian"},
    Name{"ro", "moldovan"},
    Name{"si", "sinhalese"},
    Name{"es", "castilian"},
    Name{"zh", "mandarin"},
}};

// Of English-only models: the ids of text, and the end.
constexpr std::int32_t kEnglishEnd = 50256;
// The smallest vocabulary of multilingual models, with this many languages.
constexpr std::int32_t kMultilingual = 51865, kOldLanguages = 99;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

}  // namespace

std::string_view language_name(std::string_view code) {
  const auto found = std::ranges::find(kLanguages, code, &Name::first);
  return found == kLanguages.end() ? std::string_view() : found->second;
}

WhisperTokens::WhisperTokens(const Tokenizer* tokenizer, std::int32_t vocabulary, std::optional<bool> multilingual,
                             const std::string& origin)
    : tokenizer_(tokenizer), origin_(origin) {
  is_multilingual = multilingual.value_or(vocabulary >= kMultilingual);
  // Where names are missing: those of openai's vocabularies, in their order.
  const std::int32_t language_count =
      vocabulary >= kMultilingual ? std::max(vocabulary - kMultilingual, 0) + kOldLanguages : kOldLanguages;
  const std::int32_t end = kEnglishEnd + (vocabulary >= kMultilingual ? 1 : 0);
  const bool is_standard = vocabulary >= kMultilingual - 1 && vocabulary < kMultilingual + 2;
  const auto find = [&](std::initializer_list<std::string_view> names, std::int32_t offset) {
    for (const std::string_view name : names) {
      const auto id = tokenizer != nullptr ? tokenizer->token_id(name) : std::nullopt;
      if (id && *id < vocabulary) return *id;
    }
    if (!is_standard) {
      refuse<ConfigError>(origin,
                          "no token {} and {} tokens, expected a tokenizer that has it, or one of openai's sizes",
                          *names.begin(), vocabulary);
    }
    return end + offset;
  };
  end_of_text = find({"<|endoftext|>"}, 0);
  start = find({"<|startoftranscript|>"}, 1);
  translate = find({"<|translate|>"}, language_count + 2);
  transcribe = find({"<|transcribe|>"}, language_count + 3);
  start_of_lm = find({"<|startoflm|>"}, language_count + 4);
  start_of_prev = find({"<|startofprev|>"}, language_count + 5);
  no_speech = find({"<|nospeech|>", "<|nocaptions|>"}, language_count + 6);
  no_timestamps = find({"<|notimestamps|>"}, language_count + 7);
  first_timestamp = no_timestamps + 1;
  for (const auto& [code, name] : kLanguages) {
    const auto named = tokenizer != nullptr ? tokenizer->token_id("<|" + std::string(code) + "|>") : std::nullopt;
    const std::int32_t by_order = start + 1 + static_cast<std::int32_t>(languages.size());
    if (named && *named > start && *named < translate) {
      languages.push_back({std::string(code), *named});
    } else if (is_standard && by_order < translate) {
      languages.push_back({std::string(code), by_order});
    }
  }
  if (tokenizer == nullptr) return;
  bytes_.resize(static_cast<std::size_t>(end_of_text));
  for (std::int32_t id = 0; id < end_of_text; ++id) {
    try {
      piece_decoders::append_piece_bytes(tokenizer->piece(id, TextSide::target), bytes_[static_cast<std::size_t>(id)]);
    } catch (const InputError&) {
      continue;  // a hole in the vocabulary
    }
  }
}

std::string WhisperTokens::bytes(std::span<const std::int32_t> tokens) const {
  std::string result;
  for (const std::int32_t token : tokens) {
    if (token >= 0 && token < static_cast<std::int32_t>(bytes_.size()))
      result += bytes_[static_cast<std::size_t>(token)];
  }
  return result;
}

std::string WhisperTokens::text(std::span<const std::int32_t> tokens) const {
  return replace_invalid_utf8(bytes(tokens));
}

TokenIds WhisperTokens::encode(std::string_view text) const {
  if (tokenizer_ == nullptr) refuse<TokenizerError>(origin_, "no tokenizer files, expected those of Whisper");
  TokenIds ids = encode_target_part(*tokenizer_, text);
  // Special tokens that a text spells out are not for texts to say.
  std::erase_if(ids, [this](std::int32_t id) { return id >= end_of_text; });
  return ids;
}

std::optional<std::int32_t> WhisperTokens::language(std::string_view name) const {
  std::string code = lower(name);
  for (const auto* names : {kLanguages.data(), kAliases.data()}) {
    const auto end = names + (names == kLanguages.data() ? kLanguages.size() : kAliases.size());
    const auto found = std::find_if(names, end, [&](const Name& known) { return known.second == code; });
    if (found != end) code = found->first;
  }
  const auto found = std::ranges::find(languages, code, &Language::code);
  return found == languages.end() ? std::nullopt : std::optional(found->token);
}

const std::string& WhisperTokens::code_of(std::int32_t language) const {
  return std::ranges::find(languages, language, &Language::token)->code;
}

TokenIds WhisperTokens::non_speech() const {
  if (tokenizer_ == nullptr) return {};
  std::vector<std::string> symbols;
  for (const char c : std::string_view("\"#()*+/:;<=>@[\\]^_`{|}~")) symbols.emplace_back(1, c);
  for (const char* symbol : {"「", "」",  "『", "』", "<<",  ">>",  "<<<", ">>>", "--", "---", "-(", "-[",
                             "('", "(\"", "((", "))", "(((", ")))", "[[",  "]]",  "{{", "}}",  "♪♪", "♪♪♪"}) {
    symbols.emplace_back(symbol);
  }
  // Of these the first token counts also where they are several.
  constexpr std::array kMusic = {"♩", "♪", "♫", "♬", "♭", "♮", "♯"};
  TokenIds tokens = {encode(" -").front(), encode(" '").front()};
  const auto add = [&](const std::string& symbol, bool is_music) {
    for (const std::string& text : {symbol, " " + symbol}) {
      const TokenIds ids = encode(text);
      if (ids.size() == 1 || (is_music && !ids.empty())) tokens.push_back(ids.front());
    }
  };
  for (const std::string& symbol : symbols) add(symbol, false);
  for (const char* symbol : kMusic) add(symbol, true);
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

}  // namespace encdec

#include "encdec/models/tokenizer/pipeline/tokenizer_json_parts.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/base64.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxParts = 64;           // of a sequence: each may make a text longer
constexpr std::size_t kMaxContentBytes = 1024;  // of what is put into a text at every match

[[noreturn]] void fail_part(const JsonObject& part, std::string_view found, std::string_view expected) {
  throw TokenizerError(fmt::format("{}: {}, expected {}", part.where(), found, expected));
}

// A string of one character.
std::string read_character(const JsonObject& part, std::string_view key) {
  const std::string found = part.required_string(key);
  if (!found.empty() && first_character(found).bytes == found.size()) return found;
  fail_part(part, fmt::format("'{}' is \"{}\"", key, printable(found, 40)), "one character");
}

template <typename Part>
using Readers = std::map<std::string_view, std::function<Part(const JsonObject&)>>;

// By the part's type.
template <typename Part>
Part read_kind(const JsonObject& part, const Readers<Part>& readers) {
  const std::string type = part.required_string("type");
  const auto found = readers.find(type);
  if (found != readers.end()) return found->second(part);
  std::vector<std::string_view> known;
  for (const auto& [name, reader] : readers) known.push_back(name);
  fail_part(part, fmt::format("type '{}' is not supported", printable(type)),
            fmt::format("one of {}", fmt::join(known, ", ")));
}

template <typename Part>
std::vector<Part> read_sequence(const JsonObject& part, std::string_view key, Part (*read)(const JsonObject&)) {
  const std::vector<JsonObject> list = part.required_objects(key);
  if (list.size() > kMaxParts)
    fail_part(part, fmt::format("{} of {}", key, list.size()), fmt::format("at most {}", kMaxParts));
  std::vector<Part> parts;
  parts.reserve(list.size());
  for (const JsonObject& item : list) parts.push_back(read(item));
  return parts;
}

std::string read_content(const JsonObject& part, std::string_view key) {
  std::string content = part.required_string(key);
  if (content.size() > kMaxContentBytes) {
    fail_part(part, fmt::format("'{}' has {} bytes", key, content.size()), fmt::format("at most {}", kMaxContentBytes));
  }
  return content;
}

Pattern read_pattern(const JsonObject& part) {
  const JsonObject pattern = part.required_object("pattern");
  if (pattern.has("String")) return literal_pattern(read_content(pattern, "String"));
  if (pattern.has("Regex")) return regex_pattern(pattern.required_string("Regex"), pattern.where());
  fail_part(pattern, "neither 'String' nor 'Regex'", "one of them");
}

template <typename Value, std::size_t kCount>
Value read_choice(const JsonObject& part, std::string_view key,
                  const std::array<std::pair<std::string_view, Value>, kCount>& choices) {
  const std::string found = part.required_string(key);
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) {
    if (name == found) return value;
    names.push_back(name);
  }
  fail_part(part, fmt::format("'{}' is \"{}\"", key, printable(found)),
            fmt::format("one of {}", fmt::join(names, ", ")));
}

pre_tokenizers::SplitBehavior read_behavior(const JsonObject& part) {
  using enum pre_tokenizers::SplitBehavior;
  return read_choice(part, "behavior",
                     std::array<std::pair<std::string_view, pre_tokenizers::SplitBehavior>, 5>{
                         {{"Removed", removed},
                          {"Isolated", isolated},
                          {"MergedWithPrevious", merged_with_previous},
                          {"MergedWithNext", merged_with_next},
                          {"Contiguous", contiguous}}});
}

// Older files say add_prefix_space: false for "never".
pre_tokenizers::PrependScheme read_prepend_scheme(const JsonObject& part) {
  using enum pre_tokenizers::PrependScheme;
  const bool never_prefix = !part.boolean("add_prefix_space").value_or(true);
  if (!part.has("prepend_scheme")) return never_prefix ? never : always;
  const auto scheme = read_choice(part, "prepend_scheme",
                                  std::array<std::pair<std::string_view, pre_tokenizers::PrependScheme>, 3>{
                                      {{"always", always}, {"first", first}, {"never", never}}});
  if (never_prefix && scheme != never) fail_part(part, "add_prefix_space is false and prepend_scheme is not", "never");
  return scheme;
}

NormalizationTable read_table(const JsonObject& part) {
  const auto table = decode_base64(part.required_string("precompiled_charsmap"));
  if (!table) fail_part(part, "'precompiled_charsmap' is not base64", "a normalisation table");
  return {*table, part.where()};
}

// ["[SEP]", 102]
std::int32_t read_token_pair(const JsonObject& part, const std::string& key) {
  constexpr std::string_view kExpected = "a token and its id";
  if (!part.has(key)) fail_part(part, fmt::format("has no '{}'", key), kExpected);
  const nlohmann::json& value = part.value().at(key);
  const bool is_pair = value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_number_unsigned() &&
                       value[1].get<std::uint64_t>() < std::uint64_t{kMaxTokenIds};
  if (!is_pair) fail_part(part, fmt::format("'{}' is something else", key), kExpected);
  return value[1].get<std::int32_t>();
}

Affixes read_pair_of_tokens(const JsonObject& part) {
  return {.before = {read_token_pair(part, "cls")}, .after = {read_token_pair(part, "sep")}};
}

// The ids that a token stands for.
std::vector<std::int32_t> read_ids(const JsonObject& token) {
  if (!token.has("ids") || !token.value().at("ids").is_array()) {
    fail_part(token, "has no list 'ids'", "the ids that it stands for");
  }
  std::vector<std::int32_t> result;
  for (const std::int64_t id : token.integers("ids", {0, kMaxTokenIds - 1})) {
    result.push_back(static_cast<std::int32_t>(id));
  }
  return result;
}

// What stands around one text; what would around two is not looked at.
Affixes read_template_processing(const JsonObject& part) {
  std::map<std::string, std::vector<std::int32_t>, std::less<>> tokens;
  const JsonObject described = part.required_object("special_tokens");
  for (const auto& [name, value] : described.value().items()) tokens[name] = read_ids(described.required_object(name));
  const std::vector<JsonObject> list = part.required_objects("single");
  if (list.size() > kMaxParts)
    fail_part(part, fmt::format("single of {}", list.size()), fmt::format("at most {}", kMaxParts));
  Affixes affixes;
  std::size_t texts = 0;
  for (const JsonObject& item : list) {
    if (item.has("SpecialToken")) {
      const std::string id = item.required_object("SpecialToken").required_string("id");
      const auto found = tokens.find(id);
      if (found == tokens.end())
        fail_part(item, fmt::format("'{}' is not in special_tokens", printable(id)), "one that is");
      std::vector<std::int32_t>& side = texts == 0 ? affixes.before : affixes.after;
      side.insert(side.end(), found->second.begin(), found->second.end());
    } else if (item.has("Sequence")) {
      const std::string id = item.required_object("Sequence").required_string("id");
      if (id != "A") fail_part(item, fmt::format("the text '{}'", printable(id)), "A");
      ++texts;
    } else {
      fail_part(item, "neither 'SpecialToken' nor 'Sequence'", "one of them");
    }
  }
  if (texts != 1) fail_part(part, fmt::format("'single' has {} texts", texts), "one");
  return affixes;
}

// Parts for offsets alone change nothing here; of the others there can be one.
Affixes read_processor_sequence(const JsonObject& part) {
  Affixes result;
  bool found = false;
  for (const JsonObject& item : part.required_objects("processors")) {
    const Affixes processor = read_post_processor(item);
    if (item.required_string("type") == "ByteLevel") continue;
    if (std::exchange(found, true)) fail_part(item, "a second part that adds tokens", "one");
    result = processor;
  }
  return result;
}

}  // namespace

Normalizer read_normalizer(const JsonObject& part) {
  using namespace normalizers;
  static const Readers<Normalizer> kReaders = {
      {"BertNormalizer",
       [](const JsonObject& p) {
         return bert({.clean_text = p.required_boolean("clean_text"),
                      .split_chinese = p.required_boolean("handle_chinese_chars"),
                      .strip_accents = p.boolean("strip_accents"),
                      .lowercase = p.required_boolean("lowercase")});
       }},
      {"ByteLevel", [](const JsonObject&) { return byte_level; }},
      {"Lowercase", [](const JsonObject&) { return lowercase; }},
      {"NFC", [](const JsonObject&) { return normal(NormalForm::nfc); }},
      {"NFD", [](const JsonObject&) { return normal(NormalForm::nfd); }},
      {"NFKC", [](const JsonObject&) { return normal(NormalForm::nfkc); }},
      {"NFKD", [](const JsonObject&) { return normal(NormalForm::nfkd); }},
      {"Nmt", [](const JsonObject&) { return nmt; }},
      {"Precompiled", [](const JsonObject& p) { return precompiled(read_table(p)); }},
      {"Prepend", [](const JsonObject& p) { return prepend(read_content(p, "prepend")); }},
      {"Replace", [](const JsonObject& p) { return replace(read_pattern(p), read_content(p, "content")); }},
      {"Sequence", [](const JsonObject& p) { return sequence(read_sequence(p, "normalizers", read_normalizer)); }},
      {"Strip",
       [](const JsonObject& p) {
         return strip({.left = p.required_boolean("strip_left"), .right = p.required_boolean("strip_right")});
       }},
      {"StripAccents", [](const JsonObject&) { return strip_accents; }}};
  return read_kind(part, kReaders);
}

PreTokenizer read_pre_tokenizer(const JsonObject& part) {
  using namespace pre_tokenizers;
  static const Readers<PreTokenizer> kReaders = {
      {"BertPreTokenizer", [](const JsonObject&) { return bert(); }},
      {"ByteLevel",
       [](const JsonObject& p) {
         return byte_level({.add_prefix_space = p.required_boolean("add_prefix_space"),
                            .use_regex = p.boolean("use_regex").value_or(true)});
       }},
      {"CharDelimiterSplit", [](const JsonObject& p) { return char_delimiter_split(read_character(p, "delimiter")); }},
      {"Digits", [](const JsonObject& p) { return digits({.individual = p.required_boolean("individual_digits")}); }},
      {"FixedLength",
       [](const JsonObject& p) {
         const std::int64_t length = p.integer("length", {1, 1 << 30}).value_or(5);
         return fixed_length(static_cast<std::size_t>(length));
       }},
      {"Metaspace",
       [](const JsonObject& p) {
         return metaspace({.replacement = read_character(p, "replacement"),
                           .prepend = read_prepend_scheme(p),
                           .split = p.boolean("split").value_or(true)});
       }},
      {"Punctuation",
       [](const JsonObject& p) { return punctuation(p.has("behavior") ? read_behavior(p) : SplitBehavior::isolated); }},
      {"Sequence", [](const JsonObject& p) { return sequence(read_sequence(p, "pretokenizers", read_pre_tokenizer)); }},
      {"Split",
       [](const JsonObject& p) {
         return split(read_pattern(p), {.behavior = read_behavior(p), .invert = p.required_boolean("invert")});
       }},
      {"Whitespace", [](const JsonObject&) { return whitespace; }},
      {"WhitespaceSplit", [](const JsonObject&) { return whitespace_split(); }}};
  return read_kind(part, kReaders);
}

Affixes read_post_processor(const JsonObject& part) {
  static const Readers<Affixes> kReaders = {{"BertProcessing", read_pair_of_tokens},
                                            {"ByteLevel", [](const JsonObject&) { return Affixes(); }},
                                            {"RobertaProcessing", read_pair_of_tokens},
                                            {"Sequence", read_processor_sequence},
                                            {"TemplateProcessing", read_template_processing}};
  return read_kind(part, kReaders);
}

PieceDecoder read_decoder(const JsonObject& part) {
  using namespace piece_decoders;
  static const Readers<PieceDecoder> kReaders = {
      {"BPEDecoder", [](const JsonObject& p) { return bpe(read_content(p, "suffix")); }},
      {"ByteFallback", [](const JsonObject&) { return byte_fallback; }},
      {"ByteLevel", [](const JsonObject&) { return byte_level; }},
      {"Fuse", [](const JsonObject&) { return fuse; }},
      {"Metaspace",
       [](const JsonObject& p) {
         return metaspace({.replacement = read_character(p, "replacement"),
                           .keep_first = read_prepend_scheme(p) == pre_tokenizers::PrependScheme::never});
       }},
      {"Replace", [](const JsonObject& p) { return replace(read_pattern(p), read_content(p, "content")); }},
      {"Sequence", [](const JsonObject& p) { return sequence(read_sequence(p, "decoders", read_decoder)); }},
      {"Strip",
       [](const JsonObject& p) {
         constexpr std::int64_t kMost = 1 << 30;
         return strip({.content = read_character(p, "content"),
                       .start = static_cast<std::size_t>(p.required_integer("start", {0, kMost})),
                       .stop = static_cast<std::size_t>(p.required_integer("stop", {0, kMost}))});
       }},
      {"WordPiece", [](const JsonObject& p) {
         return word_piece({.prefix = read_content(p, "prefix"), .clean_up = p.required_boolean("cleanup")});
       }}};
  return read_kind(part, kReaders);
}

}  // namespace encdec

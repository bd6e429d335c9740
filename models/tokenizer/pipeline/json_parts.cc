#include "encdec/models/tokenizer/pipeline/json_parts.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/pipeline/base64.h"
#include "encdec/models/tokenizer/vocabulary.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxParts = 64;           // of a sequence: each may make a text longer
constexpr std::size_t kMaxContentBytes = 1024;  // of what is put into a text at every match

template <typename Part>
using Readers = std::map<std::string_view, std::function<Part(const JsonPart&)>>;

// By the part's type.
template <typename Part>
Part read_kind(const JsonPart& part, const Readers<Part>& readers) {
  const std::string type = part.string("type");
  const auto found = readers.find(type);
  if (found != readers.end()) return found->second(part);
  std::vector<std::string_view> known;
  for (const auto& [name, reader] : readers) known.push_back(name);
  part.fail_kind(type, fmt::format("one of {}", fmt::join(known, ", ")));
}

template <typename Part>
std::vector<Part> read_sequence(const JsonPart& part, std::string_view key, Part (*read)(const JsonPart&)) {
  const std::vector<JsonPart> list = part.list(key);
  if (list.size() > kMaxParts)
    part.fail(fmt::format("{} of {}", key, list.size()), fmt::format("at most {}", kMaxParts));
  std::vector<Part> parts;
  parts.reserve(list.size());
  for (const JsonPart& item : list) parts.push_back(read(item));
  return parts;
}

std::string read_content(const JsonPart& part, std::string_view key) {
  std::string content = part.string(key);
  if (content.size() > kMaxContentBytes) {
    part.fail(fmt::format("'{}' has {} bytes", key, content.size()), fmt::format("at most {}", kMaxContentBytes));
  }
  return content;
}

Pattern read_pattern(const JsonPart& part) {
  const JsonPart pattern = part.object("pattern");
  if (pattern.find("String") != nullptr) return literal_pattern(read_content(pattern, "String"));
  if (pattern.find("Regex") != nullptr) return regex_pattern(pattern.string("Regex"), pattern.where());
  pattern.fail("neither 'String' nor 'Regex'", "one of them");
}

template <typename Value, std::size_t kCount>
Value read_choice(const JsonPart& part, std::string_view key,
                  const std::array<std::pair<std::string_view, Value>, kCount>& choices) {
  const std::string found = part.string(key);
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) {
    if (name == found) return value;
    names.push_back(name);
  }
  part.fail(fmt::format("'{}' is \"{}\"", key, printable(found)), fmt::format("one of {}", fmt::join(names, ", ")));
}

pre_tokenizers::SplitBehavior read_behavior(const JsonPart& part) {
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
pre_tokenizers::PrependScheme read_prepend_scheme(const JsonPart& part) {
  using enum pre_tokenizers::PrependScheme;
  const bool never_prefix = !part.boolean_or("add_prefix_space", true);
  if (part.find("prepend_scheme") == nullptr) return never_prefix ? never : always;
  const auto scheme = read_choice(part, "prepend_scheme",
                                  std::array<std::pair<std::string_view, pre_tokenizers::PrependScheme>, 3>{
                                      {{"always", always}, {"first", first}, {"never", never}}});
  if (never_prefix && scheme != never) part.fail("add_prefix_space is false and prepend_scheme is not", "never");
  return scheme;
}

NormalizationTable read_table(const JsonPart& part) {
  const auto table = decode_base64(part.string("precompiled_charsmap"));
  if (!table) part.fail("'precompiled_charsmap' is not base64", "a normalisation table");
  return {*table, part.where()};
}

// ["[SEP]", 102]
std::int32_t read_token_pair(const JsonPart& part, std::string_view key) {
  constexpr std::string_view kExpected = "a token and its id";
  if (part.find(key) == nullptr) part.fail(fmt::format("has no '{}'", key), kExpected);
  const JsonPart member = part.member(key);
  const nlohmann::json& value = member.value();
  const bool is_pair = value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_number_unsigned() &&
                       value[1].get<std::uint64_t>() < std::uint64_t{kMaxTokenIds};
  if (!is_pair) part.fail(fmt::format("'{}' is something else", key), kExpected);
  return value[1].get<std::int32_t>();
}

Affixes read_pair_of_tokens(const JsonPart& part) {
  return {.before = {read_token_pair(part, "cls")}, .after = {read_token_pair(part, "sep")}};
}

std::vector<std::int32_t> read_ids(const JsonPart& token) {
  const nlohmann::json* ids = token.find("ids");
  if (ids == nullptr || !ids->is_array()) token.fail("has no list 'ids'", "the ids that a token stands for");
  std::vector<std::int32_t> result;
  for (const nlohmann::json& id : *ids) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= std::uint64_t{kMaxTokenIds}) {
      token.fail("'ids' has something else", fmt::format("integers from 0 to {}", kMaxTokenIds - 1));
    }
    result.push_back(id.get<std::int32_t>());
  }
  return result;
}

using SpecialTokens = std::map<std::string, std::vector<std::int32_t>, std::less<>>;

// What stands around one text; what would around two is not looked at.
Affixes read_template_processing(const JsonPart& part) {
  std::map<std::string, std::vector<std::int32_t>, std::less<>> tokens;
  const JsonPart described = part.object("special_tokens");
  for (const auto& [name, value] : described.value().items()) tokens[name] = read_ids(described.object(name));
  const std::vector<JsonPart> list = part.list("single");
  if (list.size() > kMaxParts)
    part.fail(fmt::format("single of {}", list.size()), fmt::format("at most {}", kMaxParts));
  Affixes affixes;
  std::size_t texts = 0;
  for (const JsonPart& item : list) {
    if (item.find("SpecialToken") != nullptr) {
      const std::string id = item.object("SpecialToken").string("id");
      const auto found = tokens.find(id);
      if (found == tokens.end()) item.fail(fmt::format("'{}' is not in special_tokens", printable(id)), "one that is");
      std::vector<std::int32_t>& side = texts == 0 ? affixes.before : affixes.after;
      side.insert(side.end(), found->second.begin(), found->second.end());
    } else if (item.find("Sequence") != nullptr) {
      const std::string id = item.object("Sequence").string("id");
      if (id != "A") item.fail(fmt::format("the text '{}'", printable(id)), "A");
      ++texts;
    } else {
      item.fail("neither 'SpecialToken' nor 'Sequence'", "one of them");
    }
  }
  if (texts != 1) part.fail(fmt::format("'single' has {} texts", texts), "one");
  return affixes;
}

// Parts for offsets alone change nothing here; of the others there can be one.
Affixes read_processor_sequence(const JsonPart& part) {
  Affixes result;
  bool found = false;
  for (const JsonPart& item : part.list("processors")) {
    const Affixes processor = read_post_processor(item);
    if (item.string("type") == "ByteLevel") continue;
    if (std::exchange(found, true)) item.fail("a second part that adds tokens", "one");
    result = processor;
  }
  return result;
}

}  // namespace

Normalizer read_normalizer(const JsonPart& part) {
  using namespace normalizers;
  static const Readers<Normalizer> kReaders = {
      {"BertNormalizer",
       [](const JsonPart& p) {
         const bool strips = p.find("strip_accents") != nullptr;
         return bert({.clean_text = p.boolean("clean_text"),
                      .split_chinese = p.boolean("handle_chinese_chars"),
                      .strip_accents = strips ? std::optional(p.boolean("strip_accents")) : std::nullopt,
                      .lowercase = p.boolean("lowercase")});
       }},
      {"ByteLevel", [](const JsonPart&) { return byte_level; }},
      {"Lowercase", [](const JsonPart&) { return lowercase; }},
      {"NFC", [](const JsonPart&) { return normal(NormalForm::nfc); }},
      {"NFD", [](const JsonPart&) { return normal(NormalForm::nfd); }},
      {"NFKC", [](const JsonPart&) { return normal(NormalForm::nfkc); }},
      {"NFKD", [](const JsonPart&) { return normal(NormalForm::nfkd); }},
      {"Nmt", [](const JsonPart&) { return nmt; }},
      {"Precompiled", [](const JsonPart& p) { return precompiled(read_table(p)); }},
      {"Prepend", [](const JsonPart& p) { return prepend(read_content(p, "prepend")); }},
      {"Replace", [](const JsonPart& p) { return replace(read_pattern(p), read_content(p, "content")); }},
      {"Sequence", [](const JsonPart& p) { return sequence(read_sequence(p, "normalizers", read_normalizer)); }},
      {"Strip",
       [](const JsonPart& p) { return strip({.left = p.boolean("strip_left"), .right = p.boolean("strip_right")}); }},
      {"StripAccents", [](const JsonPart&) { return strip_accents; }}};
  return read_kind(part, kReaders);
}

PreTokenizer read_pre_tokenizer(const JsonPart& part) {
  using namespace pre_tokenizers;
  static const Readers<PreTokenizer> kReaders = {
      {"BertPreTokenizer", [](const JsonPart&) { return bert(); }},
      {"ByteLevel",
       [](const JsonPart& p) {
         return byte_level(
             {.add_prefix_space = p.boolean("add_prefix_space"), .use_regex = p.boolean_or("use_regex", true)});
       }},
      {"CharDelimiterSplit", [](const JsonPart& p) { return char_delimiter_split(p.character("delimiter")); }},
      {"Digits", [](const JsonPart& p) { return digits({.individual = p.boolean("individual_digits")}); }},
      {"FixedLength",
       [](const JsonPart& p) {
         const std::uint64_t length = p.optional_integer("length", 1u << 30).value_or(5);
         if (length == 0) p.fail("'length' is 0", "at least 1");
         return fixed_length(length);
       }},
      {"Metaspace",
       [](const JsonPart& p) {
         return metaspace({.replacement = p.character("replacement"),
                           .prepend = read_prepend_scheme(p),
                           .split = p.boolean_or("split", true)});
       }},
      {"Punctuation",
       [](const JsonPart& p) {
         return punctuation(p.find("behavior") != nullptr ? read_behavior(p) : SplitBehavior::isolated);
       }},
      {"Sequence", [](const JsonPart& p) { return sequence(read_sequence(p, "pretokenizers", read_pre_tokenizer)); }},
      {"Split",
       [](const JsonPart& p) {
         return split(read_pattern(p), {.behavior = read_behavior(p), .invert = p.boolean("invert")});
       }},
      {"Whitespace", [](const JsonPart&) { return whitespace; }},
      {"WhitespaceSplit", [](const JsonPart&) { return whitespace_split(); }}};
  return read_kind(part, kReaders);
}

Affixes read_post_processor(const JsonPart& part) {
  static const Readers<Affixes> kReaders = {{"BertProcessing", read_pair_of_tokens},
                                                  {"ByteLevel", [](const JsonPart&) { return Affixes(); }},
                                                  {"RobertaProcessing", read_pair_of_tokens},
                                                  {"Sequence", read_processor_sequence},
                                                  {"TemplateProcessing", read_template_processing}};
  return read_kind(part, kReaders);
}

PieceDecoder read_decoder(const JsonPart& part) {
  using namespace piece_decoders;
  static const Readers<PieceDecoder> kReaders = {
      {"BPEDecoder", [](const JsonPart& p) { return bpe(read_content(p, "suffix")); }},
      {"ByteFallback", [](const JsonPart&) { return byte_fallback; }},
      {"ByteLevel", [](const JsonPart&) { return byte_level; }},
      {"Fuse", [](const JsonPart&) { return fuse; }},
      {"Metaspace",
       [](const JsonPart& p) {
         return metaspace({.replacement = p.character("replacement"),
                           .keep_first = read_prepend_scheme(p) == pre_tokenizers::PrependScheme::never});
       }},
      {"Replace", [](const JsonPart& p) { return replace(read_pattern(p), read_content(p, "content")); }},
      {"Sequence", [](const JsonPart& p) { return sequence(read_sequence(p, "decoders", read_decoder)); }},
      {"Strip",
       [](const JsonPart& p) {
         constexpr std::uint64_t kMost = 1u << 30;
         return strip(
             {.content = p.character("content"), .start = p.integer("start", kMost), .stop = p.integer("stop", kMost)});
       }},
      {"WordPiece", [](const JsonPart& p) {
         return word_piece({.prefix = read_content(p, "prefix"), .clean_up = p.boolean("cleanup")});
       }}};
  return read_kind(part, kReaders);
}

}  // namespace encdec

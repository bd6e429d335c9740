#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/base64.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxParts = 64;           // maximum parts of a sequence: each can lengthen a text
constexpr std::size_t kMaxContentBytes = 1024;  // maximum size of a text that is inserted at every match

template <class... Args>
[[noreturn]] void fail(const JsonObject& part, fmt::format_string<Args...> what, Args&&... args) {
  refuse<TokenizerError>(part.where(), what, std::forward<Args>(args)...);
}

// Reads a string of one character.
std::string read_character(const JsonObject& part, std::string_view key) {
  std::string found = part.required_string(key);
  if (!found.empty() && first_character(found).bytes == found.size()) return found;
  fail(part, "'{}' is \"{}\", expected one character", key, printable(found, 40));
}

template <typename Part>
using Readers = std::map<std::string_view, std::function<Part(const JsonObject&)>>;

// Calls the reader for the part's `type`.
template <typename Part>
Part read_kind(const JsonObject& part, const Readers<Part>& readers) {
  const std::string type = part.required_string("type");
  const auto found = readers.find(type);
  if (found != readers.end()) return found->second(part);
  std::vector<std::string_view> known;
  for (const auto& [name, reader] : readers) known.push_back(name);
  fail(part, "type '{}' is not supported, expected one of {}", printable(type), fmt::join(known, ", "));
}

std::vector<JsonObject> read_list(const JsonObject& part, std::string_view key) {
  std::vector<JsonObject> list = part.required_objects(key);
  if (list.size() > kMaxParts) fail(part, "{} of {}, expected at most {}", key, list.size(), kMaxParts);
  return list;
}

template <typename Part>
std::vector<Part> read_sequence(const JsonObject& part, std::string_view key, Part (*read)(const JsonObject&)) {
  std::vector<Part> parts;
  for (const JsonObject& item : read_list(part, key)) parts.push_back(read(item));
  return parts;
}

std::string read_content(const JsonObject& part, std::string_view key) {
  std::string content = part.required_string(key);
  if (content.size() > kMaxContentBytes) {
    fail(part, "'{}' has {} bytes, expected at most {}", key, content.size(), kMaxContentBytes);
  }
  return content;
}

Pattern read_pattern(const JsonObject& part) {
  const JsonObject pattern = part.required_object("pattern");
  if (pattern.has("String")) return literal_pattern(read_content(pattern, "String"));
  if (pattern.has("Regex")) return regex_pattern(pattern.required_string("Regex"), pattern.where());
  fail(pattern, "neither 'String' nor 'Regex', expected one of them");
}

// Reads a string that is one of `choices`. Returns the value of that choice.
template <typename Value>
Value read_choice(const JsonObject& part, std::string_view key,
                  std::initializer_list<std::pair<std::string_view, Value>> choices) {
  const std::string found = part.required_string(key);
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) {
    if (name == found) return value;
    names.push_back(name);
  }
  fail(part, "'{}' is \"{}\", expected one of {}", key, printable(found), fmt::join(names, ", "));
}

pre_tokenizers::SplitBehavior read_behavior(const JsonObject& part) {
  using enum pre_tokenizers::SplitBehavior;
  return read_choice<pre_tokenizers::SplitBehavior>(part, "behavior",
                                                    {{"Removed", removed},
                                                     {"Isolated", isolated},
                                                     {"MergedWithPrevious", merged_with_previous},
                                                     {"MergedWithNext", merged_with_next},
                                                     {"Contiguous", contiguous}});
}

// Reads prepend_scheme. In older files "add_prefix_space": false means "never".
pre_tokenizers::PrependScheme read_prepend_scheme(const JsonObject& part) {
  using enum pre_tokenizers::PrependScheme;
  const bool never_prefix = !part.boolean("add_prefix_space").value_or(true);
  if (!part.has("prepend_scheme")) return never_prefix ? never : always;
  const auto scheme = read_choice<pre_tokenizers::PrependScheme>(
      part, "prepend_scheme", {{"always", always}, {"first", first}, {"never", never}});
  if (never_prefix && scheme != never)
    fail(part, "add_prefix_space is false and prepend_scheme is not, expected never");
  return scheme;
}

NormalizationTable read_table(const JsonObject& part) {
  const auto table = decode_base64(part.required_string("precompiled_charsmap"));
  if (!table) fail(part, "'precompiled_charsmap' is not base64, expected a normalisation table");
  return {*table, part.where()};
}

// Reads the id from a pair of token and id: 102 from ["[SEP]", 102].
std::int32_t read_token_pair(const JsonObject& part, const std::string& key) {
  if (!part.has(key)) fail(part, "has no '{}', expected a token and its id", key);
  const nlohmann::json& value = part.value().at(key);
  const bool is_pair = value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_number_unsigned() &&
                       value[1].get<std::uint64_t>() < std::uint64_t{kMaxTokenIds};
  if (!is_pair) fail(part, "'{}' is invalid, expected a token and its id", key);
  return value[1].get<std::int32_t>();
}

Affixes read_bert_processing(const JsonObject& part) {
  const std::vector<std::int32_t> cls{read_token_pair(part, "cls")}, sep{read_token_pair(part, "sep")};
  return {.before = cls, .after = sep, .pair = PairAffixes{cls, sep, sep, 1}};
}

// Returns empty affixes. The texts of a pair are joined without tokens between them.
Affixes no_affixes(Affixes::Trim trim = Affixes::Trim::none) {
  return {.pair = PairAffixes{.first_segment = 0}, .trim = trim};
}

Affixes::Trim read_trim(const JsonObject& part) {  // reads trim_offsets and add_prefix_space
  using enum Affixes::Trim;
  if (!part.boolean("trim_offsets").value_or(true)) return none;
  return part.boolean("add_prefix_space").value_or(true) ? unless_added : all;
}

Affixes read_roberta_processing(const JsonObject& part) {
  const std::vector<std::int32_t> cls{read_token_pair(part, "cls")}, sep{read_token_pair(part, "sep")};
  return {.before = cls, .after = sep, .pair = PairAffixes{cls, {sep[0], sep[0]}, sep}, .trim = read_trim(part)};
}

std::vector<std::int32_t> read_ids(const JsonObject& token) {  // reads the ids of a template's special token
  if (!token.has("ids") || !token.value().at("ids").is_array()) {
    fail(token, "has no list 'ids', expected the ids of the token");
  }
  std::vector<std::int32_t> result;
  for (const std::int64_t id : token.integers("ids", {0, kMaxTokenIds - 1})) {
    result.push_back(static_cast<std::int32_t>(id));
  }
  return result;
}

// An item of a template: special tokens or a text.
struct TemplateItem {
  std::vector<std::int32_t> ids = {};
  std::string text = {};   // "A" or "B"; empty for special tokens
  bool is_second = false;  // whether the item belongs to the second segment
};

// Reads the template `key`. `texts` has the letters of the texts that the template may contain.
std::vector<TemplateItem> read_template(const JsonObject& part, std::string_view key, std::string_view texts) {
  // The file describes each special token once, by name. Items refer to these names.
  std::map<std::string, std::vector<std::int32_t>, std::less<>> tokens;
  const JsonObject described = part.required_object("special_tokens");
  for (const auto& [name, value] : described.value().items()) tokens[name] = read_ids(described.required_object(name));
  std::vector<TemplateItem> items;
  for (const JsonObject& item : read_list(part, key)) {
    const bool is_token = item.has("SpecialToken");
    if (!is_token && !item.has("Sequence")) fail(item, "neither 'SpecialToken' nor 'Sequence', expected one of them");
    const JsonObject content = item.required_object(is_token ? "SpecialToken" : "Sequence");
    const std::string id = content.required_string("id");
    TemplateItem read{.is_second = content.integer("type_id", {0, kMaxTokenIds - 1}).value_or(0) != 0};
    if (is_token) {
      const auto found = tokens.find(id);
      if (found == tokens.end()) fail(item, "'{}' is not in special_tokens, expected one that is", printable(id));
      read.ids = found->second;
    } else {
      if (id.size() != 1 || texts.find(id[0]) == texts.npos) {
        fail(item, "the text '{}', expected {}", printable(id), fmt::join(texts, " or "));
      }
      read.text = id;
    }
    items.push_back(std::move(read));
  }
  return items;
}

// Reads the tokens around a pair. Returns nullopt unless the texts are A, then B. If the template has a second segment,
// that segment must begin only once, between A and B.
std::optional<PairAffixes> read_pair_template(const JsonObject& part) {
  PairAffixes affixes;
  std::vector<std::int32_t>* const affix_of[] = {&affixes.before, &affixes.between, &affixes.after};
  std::size_t texts = 0;
  for (const TemplateItem& item : read_template(part, "pair", "AB")) {
    // The second segment may begin once, between the texts.
    const bool has_second = affixes.first_segment != kNoSecondSegment;
    if (has_second != item.is_second) {
      if (has_second || texts != 1) return std::nullopt;
      affixes.first_segment = affixes.between.size();
    }
    if (item.text.empty()) {
      affix_of[texts]->insert(affix_of[texts]->end(), item.ids.begin(), item.ids.end());
    } else if (texts == 2 || item.text != (texts == 0 ? "A" : "B")) {
      return std::nullopt;
    } else {
      ++texts;
    }
  }
  return texts == 2 ? std::optional(affixes) : std::nullopt;
}

Affixes read_template_processing(const JsonObject& part) {
  Affixes affixes;
  std::size_t texts = 0;
  for (const TemplateItem& item : read_template(part, "single", "A")) {
    if (!item.text.empty()) ++texts;
    std::vector<std::int32_t>& side = texts == 0 ? affixes.before : affixes.after;
    side.insert(side.end(), item.ids.begin(), item.ids.end());
  }
  if (texts != 1) fail(part, "'single' has {} texts, expected one", texts);
  if (part.has("pair")) affixes.pair = read_pair_template(part);
  return affixes;
}

Affixes read_post_processor(const JsonObject& part);

// Reads a sequence of processors. It may contain ByteLevel, which only affects ranges, and at most one other processor.
Affixes read_processor_sequence(const JsonObject& part) {
  Affixes result = no_affixes();
  bool found = false;
  for (const JsonObject& item : part.required_objects("processors")) {
    Affixes processor = read_post_processor(item);
    if (processor.trim == Affixes::Trim::none) processor.trim = result.trim;
    if (item.required_string("type") == "ByteLevel") {
      result.trim = processor.trim;
      continue;
    }
    if (std::exchange(found, true)) fail(item, "a second processor that adds tokens, expected one");
    result = std::move(processor);
  }
  return result;
}

Affixes read_post_processor(const JsonObject& part) {
  static const Readers<Affixes> kReaders = {{"BertProcessing", read_bert_processing},
                                            {"ByteLevel", [](const JsonObject& p) { return no_affixes(read_trim(p)); }},
                                            {"RobertaProcessing", read_roberta_processing},
                                            {"Sequence", read_processor_sequence},
                                            {"TemplateProcessing", read_template_processing}};
  return read_kind(part, kReaders);
}

// The readers below list the types of Hugging Face's tokenizers. A sequence reads its parts recursively.

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
      {"Digits",
       [](const JsonObject& p) {
         return digits(p.required_boolean("individual_digits") ? SplitBehavior::isolated : SplitBehavior::contiguous);
       }},
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

}  // namespace

PipelineParts read_pipeline(TokenizerJsonFile file) {
  const JsonObject root = *file.rest;
  if (const auto version = root.string("version"); version && *version != "1.0") {
    fail(root, "version is '{}', expected 1.0", printable(*version));
  }
  PipelineParts parts;
  read_piece_model(file, parts);
  if (root.has("normalizer")) parts.normalizer = read_normalizer(root.required_object("normalizer"));
  if (file.normalization_table) {
    // Apply the family's table before the file's normalizer.
    const Normalizer table = normalizers::precompiled(*std::move(file.normalization_table));
    parts.normalizer = parts.normalizer ? normalizers::sequence({table, parts.normalizer}) : table;
  }
  if (root.has("pre_tokenizer")) parts.pre_tokenizer = read_pre_tokenizer(root.required_object("pre_tokenizer"));
  parts.affixes = no_affixes();
  if (root.has("post_processor")) parts.affixes = read_post_processor(root.required_object("post_processor"));
  if (root.has("decoder")) parts.decoder = read_decoder(root.required_object("decoder"));
  if (root.has("added_tokens")) {
    for (const JsonObject& token : root.required_objects("added_tokens")) {
      // Check the id, but do not use it: as in tokenizers, AddedVocabulary assigns the ids.
      token.required_integer("id", {0, kMaxTokenIds - 1});
      parts.added_tokens.push_back(read_added_token(token));
    }
  }
  return parts;
}

}  // namespace encdec

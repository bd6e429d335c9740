#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/whisper_format.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/families/language_codes.h"
#include "encdec/models/tokenizer/families/pipeline_families.h"
#include "encdec/models/tokenizer/families/plain_tokenizer.h"
#include "encdec/models/tokenizer/pipeline/added_vocabulary.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

// The settings in tokenizer_config.json for the special tokens around a text.
struct WhisperFrame {
  std::string language = {};    // default language; empty: no language token
  std::string task = {};        // empty: no task token
  bool has_timestamps = false;  // predict_timestamps; if true, there is no <|notimestamps|> token
  std::string end = std::string(kWhisperEnd);
};

// Returns whether the token is a timestamp, such as "<|1.02|>".
bool is_timestamp(std::string_view token) {
  if (!token.starts_with("<|") || !token.ends_with("|>") || token.size() < 7) return false;
  const std::string_view digits = token.substr(2, token.size() - 4);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return is_digit(digits.front()) && is_digit(digits.back()) && std::ranges::count(digits, '.') == 1 &&
         std::ranges::count_if(digits, is_digit) + 1 == std::ssize(digits);
}

// Adds the languages and the special tokens around a text to `parts`.
PipelineParts framed_by(PipelineParts parts, const WhisperFrame& frame, const std::string& name) {
  for (AddedToken& token : parts.added_tokens) token.special = token.special || is_timestamp(token.content);
  const AddedVocabulary added(parts.added_tokens, *parts.model, parts.normalizer, name);
  const auto find = [&](std::string_view token) { return added.id(token, *parts.model); };
  const auto append = [&](std::vector<std::int32_t>& ids, std::string_view token) {
    if (const auto id = find(token)) ids.push_back(*id);
  };
  // Keep the languages that have a token, in the order of their ids.
  for (const WhisperLanguage& language : whisper_languages()) {
    auto id = find(fmt::format("<|{}|>", language.code));
    if (!id && language.code == "he") id = find("<|iw|>");  // the code of Hebrew in the first checkpoints
    if (id) parts.languages.push_back({std::string(language.code), *id});
  }
  std::ranges::stable_sort(parts.languages, {}, &PipelineParts::Language::token);
  // Collect the special tokens that the vocabulary has. `task` holds the tokens after the language.
  std::vector<std::int32_t> start, task;
  append(start, kWhisperStart);
  if (!frame.task.empty()) append(task, fmt::format("<|{}|>", frame.task));
  if (!frame.has_timestamps) append(task, "<|notimestamps|>");
  append(parts.affixes.after, frame.end);
  parts.language_affixes = [start, task, after = parts.affixes.after, languages = parts.languages,
                            missing = frame.language, name](const EncodeOptions& options, TextSide /*side*/) {
    const std::string& given = options.target_language.empty() ? options.source_language : options.target_language;
    const std::string& language = given.empty() ? missing : given;
    Affixes affixes{.before = start, .after = after};
    if (!language.empty()) {
      const auto code = whisper_language_code(language);
      const auto found = std::ranges::find(languages, code.value_or(language), &PipelineParts::Language::name);
      if (found == languages.end()) {
        std::vector<std::string> names;
        for (const auto& one : languages) names.push_back(one.name);
        language_codes::refuse_unknown(language, names, name);
      }
      affixes.before.push_back(found->token);
    }
    affixes.before.insert(affixes.before.end(), task.begin(), task.end());
    return affixes;
  };
  return parts;
}

// Returns whether every character of a subword represents a byte (see byte_character()).
bool is_byte_level(std::string_view piece) {
  poll_cancelled();
  return leading_bytes(piece, [](char32_t c) { return character_byte(c) >= 0; }) == piece.size();
}

}  // namespace

PipelineParts make_whisper(PipelineData& data) {
  const JsonObject& config = data.config;
  const WhisperFrame frame{.language = config.string("language").value_or(""),
                           .task = config.string("task").value_or(""),
                           .has_timestamps = config.boolean("predict_timestamps").value_or(false),
                           .end = data.token("eos_token")};
  return framed_by(family_parts::load(data, family_parts::byte_level_document(data, false)), frame, data.name);
}

std::unique_ptr<Tokenizer> whisper_tokenizer(const PieceList& pieces, const std::string& name) {
  // Whisper's special tokens begin with END and START. Only byte-level subwords have lower ids.
  const auto end = pieces.id(kWhisperEnd);
  if (!end || pieces.id(kWhisperStart) != *end + 1) return nullptr;
  for (std::int32_t id = 0; id < *end; ++id) {
    if (!is_byte_level(*pieces.piece(id))) return nullptr;
  }
  Vocabulary vocabulary;
  for (std::int32_t id = 0; id < *end; ++id) vocabulary.add(*pieces.piece(id), id, name);
  PipelineParts parts{.kind = "byte-level BPE", .model = piece_models::rank_bpe(std::move(vocabulary), name)};
  parts.pre_tokenizer = pre_tokenizers::byte_level({.add_prefix_space = false});
  parts.decoder = piece_decoders::byte_level;
  // All tokens from END on are special.
  std::set<std::string_view> known;
  for (std::int32_t id = *end; id < std::ssize(pieces); ++id) {
    const std::string& token = *pieces.piece(id);
    if (token.empty() || parts.model->id(token) || !known.insert(token).second) {
      refuse<TokenizerError>(name, "special token '{}', expected names that differ from each other and from all pieces",
                             printable(token));
    }
    parts.added_tokens.push_back({.content = token, .normalized = false, .special = true});
  }
  return pipeline_tokenizer(framed_by(std::move(parts), {}, name), name);
}

std::unique_ptr<Tokenizer> load_whisper_tokenizer(const fs::path& folder) {
  for (const char* name : {"vocabulary.json", "vocabulary.txt"}) {
    const fs::path path = folder / name;
    if (file_exists(path)) return whisper_tokenizer(PieceList::read(path), path.string());
  }
  return nullptr;
}

}  // namespace encdec

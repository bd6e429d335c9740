#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/pipeline/bpe.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json_file.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json_parts.h"
#include "encdec/models/tokenizer/pipeline/unigram.h"
#include "encdec/models/tokenizer/pipeline/word_level.h"
#include "encdec/models/tokenizer/pipeline/wordpiece.h"

namespace encdec {
namespace {

using ModelPtr = std::unique_ptr<const PieceModel>;

[[noreturn]] void fail_model(const JsonObject& part, std::string_view what) {
  throw TokenizerError(fmt::format("{}: {}", part.where(), what));
}

Vocabulary take_vocabulary(TokenizerJsonFile& file, const JsonObject& model) {
  if (!file.vocabulary) fail_model(model, "has no vocab, expected an object of pieces and their ids");
  return *std::move(file.vocabulary);
}

ModelPtr read_unigram(TokenizerJsonFile& file, const JsonObject& model) {
  if (!file.pieces) fail_model(model, "has no vocab, expected a list of pieces and their scores");
  const auto unknown = model.integer("unk_id", {0, kMaxTokenIds - 1});
  return std::make_unique<Unigram>(
      Unigram::Options{.pieces = *std::move(file.pieces),
                       .unknown_id = unknown ? std::optional(static_cast<std::int32_t>(*unknown)) : std::nullopt,
                       .byte_fallback = model.boolean("byte_fallback").value_or(false)},
      model.where());
}

ModelPtr read_bpe(TokenizerJsonFile& file, const JsonObject& model) {
  if (!file.merges) fail_model(model, "has no merges, expected a list of pairs of pieces");
  const auto unknown_token = model.string("unk_token");
  return std::make_unique<Bpe>(
      Bpe::Options{.vocabulary = take_vocabulary(file, model),
                   .merges = *std::move(file.merges),
                   .unknown_token = unknown_token,
                   .continuing_subword_prefix = model.string("continuing_subword_prefix").value_or(""),
                   .end_of_word_suffix = model.string("end_of_word_suffix").value_or(""),
                   .fuse_unknown = model.boolean("fuse_unk").value_or(false),
                   .byte_fallback = model.boolean("byte_fallback").value_or(false),
                   .ignore_merges = model.boolean("ignore_merges").value_or(false)},
      model.where());
}

ModelPtr read_wordpiece(TokenizerJsonFile& file, const JsonObject& model) {
  constexpr std::int64_t kMost = 1 << 30;
  return std::make_unique<WordPiece>(
      WordPiece::Options{.vocabulary = take_vocabulary(file, model),
                         .unknown_token = model.required_string("unk_token"),
                         .continuing_subword_prefix = model.required_string("continuing_subword_prefix"),
                         .max_word_characters =
                             static_cast<std::size_t>(model.required_integer("max_input_chars_per_word", {0, kMost}))},
      model.where());
}

ModelPtr read_word_level(TokenizerJsonFile& file, const JsonObject& model) {
  return std::make_unique<WordLevel>(WordLevel::Options{.vocabulary = take_vocabulary(file, model),
                                                        .unknown_token = model.required_string("unk_token")},
                                     model.where());
}

// Of older files, which do not say.
std::string_view guess_model(const TokenizerJsonFile& file, const JsonObject& model) {
  if (file.pieces) return "Unigram";
  if (file.merges) return "BPE";
  if (model.has("max_input_chars_per_word")) return "WordPiece";
  return "WordLevel";
}

ModelPtr read_model(TokenizerJsonFile& file, const JsonObject& model) {
  const std::string type = model.string("type").value_or(std::string(guess_model(file, model)));
  if (type == "Unigram") return read_unigram(file, model);
  if (type == "BPE") return read_bpe(file, model);
  if (type == "WordPiece") return read_wordpiece(file, model);
  if (type == "WordLevel") return read_word_level(file, model);
  fail_model(model,
             fmt::format("type '{}' is not supported, expected BPE, Unigram, WordPiece or WordLevel", printable(type)));
}

bool is_byte_level(const JsonObject& file) {
  const auto decoder = file.value().find("decoder");
  return decoder != file.value().end() && decoder->dump().find("\"ByteLevel\"") != std::string::npos;
}

std::string kind_for_people(const PieceModel& model, const JsonObject& file) {
  if (model.kind() == "Unigram") return "unigram";
  if (model.kind() == "WordLevel") return "word-level";
  return fmt::format("{}{}", model.kind() == "BPE" && is_byte_level(file) ? "byte-level " : "", model.kind());
}

}  // namespace

PipelineTokenizer::Parts parse_tokenizer_json(std::string_view json, const std::string& name) {
  TokenizerJsonFile file = TokenizerJsonFile::parse(json, name);
  const JsonObject root(std::move(*file.rest), name);
  if (const auto version = root.string("version"); version && *version != "1.0") {
    fail_model(root, fmt::format("version is '{}', expected 1.0", printable(*version)));
  }
  PipelineTokenizer::Parts parts;
  parts.model = read_model(file, root.required_object("model"));
  parts.kind = kind_for_people(*parts.model, root);
  if (root.has("normalizer")) parts.normalizer = read_normalizer(root.required_object("normalizer"));
  if (root.has("pre_tokenizer")) parts.pre_tokenizer = read_pre_tokenizer(root.required_object("pre_tokenizer"));
  if (root.has("post_processor")) parts.affixes = read_post_processor(root.required_object("post_processor"));
  if (root.has("decoder")) parts.decoder = read_decoder(root.required_object("decoder"));
  if (root.has("added_tokens")) {
    for (const JsonObject& token : root.required_objects("added_tokens")) {
      token.required_integer("id", {0, kMaxTokenIds - 1});  // tokens are numbered anew, as tokenizers does
      parts.added_tokens.push_back(read_added_token(token));
    }
  }
  return parts;
}

PipelineTokenizer::Parts read_tokenizer_json(const std::filesystem::path& path) {
  return parse_tokenizer_json(read_text_file(path, kMaxTokenizerJsonBytes), path.string());
}

}  // namespace encdec

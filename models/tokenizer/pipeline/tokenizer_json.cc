#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

#include <fmt/format.h>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/pipeline/bpe.h"
#include "encdec/models/tokenizer/pipeline/json_parts.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json_file.h"
#include "encdec/models/tokenizer/pipeline/unigram.h"
#include "encdec/models/tokenizer/pipeline/word_level.h"
#include "encdec/models/tokenizer/pipeline/wordpiece.h"
#include "encdec/models/tokenizer/tokenizer_settings.h"

namespace encdec {
namespace {

using ModelPtr = std::unique_ptr<const PieceModel>;

Vocabulary take_vocabulary(TokenizerJsonFile& file, const JsonPart& model) {
  if (!file.vocabulary) model.fail("has no vocab", "an object of pieces and their ids");
  return *std::move(file.vocabulary);
}

ModelPtr read_unigram(TokenizerJsonFile& file, const JsonPart& model) {
  if (!file.pieces) model.fail("has no vocab", "a list of pieces and their scores");
  const auto unknown = model.optional_integer("unk_id", kMaxTokenIds - 1);
  return std::make_unique<Unigram>(
      Unigram::Options{.pieces = *std::move(file.pieces),
                       .unknown_id = unknown ? std::optional(static_cast<std::int32_t>(*unknown)) : std::nullopt,
                       .byte_fallback = model.boolean_or("byte_fallback", false)},
      model.where());
}

ModelPtr read_bpe(TokenizerJsonFile& file, const JsonPart& model) {
  if (!file.merges) model.fail("has no merges", "a list of pairs of pieces");
  const auto unknown_token = model.optional_string("unk_token");
  return std::make_unique<Bpe>(
      Bpe::Options{.vocabulary = take_vocabulary(file, model),
                   .merges = *std::move(file.merges),
                   .unknown_token = unknown_token,
                   .continuing_subword_prefix = model.optional_string("continuing_subword_prefix").value_or(""),
                   .end_of_word_suffix = model.optional_string("end_of_word_suffix").value_or(""),
                   .fuse_unknown = model.boolean_or("fuse_unk", false),
                   .byte_fallback = model.boolean_or("byte_fallback", false),
                   .ignore_merges = model.boolean_or("ignore_merges", false)},
      model.where());
}

ModelPtr read_wordpiece(TokenizerJsonFile& file, const JsonPart& model) {
  constexpr std::uint64_t kMost = 1u << 30;
  return std::make_unique<WordPiece>(
      WordPiece::Options{.vocabulary = take_vocabulary(file, model),
                         .unknown_token = model.string("unk_token"),
                         .continuing_subword_prefix = model.string("continuing_subword_prefix"),
                         .max_word_characters = model.integer("max_input_chars_per_word", kMost)},
      model.where());
}

ModelPtr read_word_level(TokenizerJsonFile& file, const JsonPart& model) {
  return std::make_unique<WordLevel>(
      WordLevel::Options{.vocabulary = take_vocabulary(file, model), .unknown_token = model.string("unk_token")},
      model.where());
}

// Of older files, which do not say.
std::string_view guess_model(const TokenizerJsonFile& file, const JsonPart& model) {
  if (file.pieces) return "Unigram";
  if (file.merges) return "BPE";
  if (model.find("max_input_chars_per_word") != nullptr) return "WordPiece";
  return "WordLevel";
}

ModelPtr read_model(TokenizerJsonFile& file, const JsonPart& model) {
  const std::string type = model.optional_string("type").value_or(std::string(guess_model(file, model)));
  if (type == "Unigram") return read_unigram(file, model);
  if (type == "BPE") return read_bpe(file, model);
  if (type == "WordPiece") return read_wordpiece(file, model);
  if (type == "WordLevel") return read_word_level(file, model);
  model.fail_kind(type, "BPE, Unigram, WordPiece or WordLevel");
}

AddedToken read_token(const JsonPart& token) {
  const bool special = token.boolean_or("special", false);
  return {.content = token.string("content"),
          .strip_left = token.boolean_or("lstrip", false),
          .strip_right = token.boolean_or("rstrip", false),
          .single_word = token.boolean_or("single_word", false),
          .normalized = token.boolean_or("normalized", !special),
          .special = special};
}

bool is_byte_level(const TokenizerJsonFile& file) {
  const auto decoder = file.rest->find("decoder");
  return decoder != file.rest->end() && decoder->dump().find("\"ByteLevel\"") != std::string::npos;
}

std::string kind_for_people(const PieceModel& model, const TokenizerJsonFile& file) {
  if (model.kind() == "Unigram") return "unigram";
  if (model.kind() == "WordLevel") return "word-level";
  return fmt::format("{}{}", model.kind() == "BPE" && is_byte_level(file) ? "byte-level " : "", model.kind());
}

}  // namespace

PipelineTokenizer::Parts parse_tokenizer_json(std::string_view json, const std::string& name) {
  TokenizerJsonFile file = TokenizerJsonFile::parse(json, name);
  const JsonPart root(*file.rest, name);
  if (const auto version = root.optional_string("version"); version && *version != "1.0") {
    root.fail(fmt::format("version is '{}'", printable(*version)), "1.0");
  }
  PipelineTokenizer::Parts parts;
  parts.model = read_model(file, root.object("model"));
  parts.kind = kind_for_people(*parts.model, file);
  if (root.find("normalizer") != nullptr) parts.normalizer = read_normalizer(root.object("normalizer"));
  if (root.find("pre_tokenizer") != nullptr) parts.pre_tokenizer = read_pre_tokenizer(root.object("pre_tokenizer"));
  if (root.find("post_processor") != nullptr) parts.affixes = read_post_processor(root.object("post_processor"));
  if (root.find("decoder") != nullptr) parts.decoder = read_decoder(root.object("decoder"));
  if (root.find("added_tokens") != nullptr) {
    for (const JsonPart& token : root.list("added_tokens")) {
      token.integer("id", kMaxTokenIds - 1);  // tokens are numbered anew, as tokenizers does
      parts.added_tokens.push_back(read_token(token));
    }
  }
  return parts;
}

PipelineTokenizer::Parts read_tokenizer_json(const std::filesystem::path& path) {
  return parse_tokenizer_json(read_text_file(path, kMaxTokenizerJsonBytes), path.string());
}

}  // namespace encdec

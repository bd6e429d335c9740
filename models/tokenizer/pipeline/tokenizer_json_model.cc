#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

namespace encdec {
namespace {

Vocabulary take_vocabulary(TokenizerJsonFile& file, const JsonObject& model) {
  if (!file.vocabulary)
    refuse<TokenizerError>(model.where(), "has no vocab, expected an object of pieces and their ids");
  return *std::move(file.vocabulary);
}

PieceModelPtr read_unigram(TokenizerJsonFile& file, const JsonObject& model) {
  if (!file.pieces) refuse<TokenizerError>(model.where(), "has no vocab, expected a list of pieces and their scores");
  const auto unknown = model.integer("unk_id", {0, kMaxTokenIds - 1});
  return piece_models::unigram(
      {.pieces = *std::move(file.pieces),
       .unknown_id = unknown ? std::optional(static_cast<std::int32_t>(*unknown)) : std::nullopt,
       .byte_fallback = model.boolean("byte_fallback").value_or(false)},
      model.where());
}

PieceModelPtr read_bpe(TokenizerJsonFile& file, const JsonObject& model) {
  if (!file.merges) refuse<TokenizerError>(model.where(), "has no merges, expected a list of pairs of pieces");
  const auto unknown_token = model.string("unk_token");
  return piece_models::bpe({.vocabulary = take_vocabulary(file, model),
                            .merges = *std::move(file.merges),
                            .unknown_token = unknown_token,
                            .continuing_subword_prefix = model.string("continuing_subword_prefix").value_or(""),
                            .end_of_word_suffix = model.string("end_of_word_suffix").value_or(""),
                            .fuse_unknown = model.boolean("fuse_unk").value_or(false),
                            .byte_fallback = model.boolean("byte_fallback").value_or(false),
                            .ignore_merges = model.boolean("ignore_merges").value_or(false)},
                           model.where());
}

PieceModelPtr read_word_piece(TokenizerJsonFile& file, const JsonObject& model) {
  constexpr std::int64_t kMost = 1 << 30;
  return piece_models::word_piece(
      {.vocabulary = take_vocabulary(file, model),
       .unknown_token = model.required_string("unk_token"),
       .continuing_subword_prefix = model.required_string("continuing_subword_prefix"),
       .max_word_characters = static_cast<std::size_t>(model.required_integer("max_input_chars_per_word", {0, kMost}))},
      model.where());
}

PieceModelPtr read_word_level(TokenizerJsonFile& file, const JsonObject& model) {
  return piece_models::word_level(
      {.vocabulary = take_vocabulary(file, model), .unknown_token = model.required_string("unk_token")}, model.where());
}

// Returns the likely type of a model without `type`, as in older files.
std::string_view infer_model_type(const TokenizerJsonFile& file, const JsonObject& model) {
  if (file.pieces) return "Unigram";
  if (file.merges) return "BPE";
  if (model.has("max_input_chars_per_word")) return "WordPiece";
  return "WordLevel";
}

bool is_byte_level(const JsonObject& file) {
  const auto decoder = file.value().find("decoder");
  return decoder != file.value().end() && decoder->dump().find("\"ByteLevel\"") != std::string::npos;
}

}  // namespace

void read_piece_model(TokenizerJsonFile& file, PipelineParts& parts) {
  struct Kind {
    std::string_view type;
    const char* kind;
    PieceModelPtr (*read)(TokenizerJsonFile& file, const JsonObject& model);
  };
  const JsonObject& root = *file.rest;
  const JsonObject model = root.required_object("model");
  const std::string type = model.string("type").value_or(std::string(infer_model_type(file, model)));
  for (const Kind& known :
       {Kind{"Unigram", "unigram", read_unigram}, Kind{"BPE", is_byte_level(root) ? "byte-level BPE" : "BPE", read_bpe},
        Kind{"WordPiece", "WordPiece", read_word_piece}, Kind{"WordLevel", "word-level", read_word_level}}) {
    if (known.type != type) continue;
    parts.kind = known.kind;
    parts.marks_continuing_pieces = !model.string("continuing_subword_prefix").value_or("").empty();
    parts.model = known.read(file, model);
    return;
  }
  refuse<TokenizerError>(model.where(), "type '{}' is not supported, expected BPE, Unigram, WordPiece or WordLevel",
                         printable(type));
}

}  // namespace encdec

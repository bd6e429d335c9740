#include "encdec/models/tokenizer/sentencepiece_proto.h"

#include <fmt/format.h>

#include <cstring>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/protobuf_fields.h"
#include "encdec/models/tokenizer/sentencepiece_check.h"

namespace encdec {
namespace {

using protobuf::Field;
using protobuf::Fields;
using WireType = Field::WireType;

class ProtoReader {
 public:
  ProtoReader(SentencePieceProto& proto, const std::string& name) : proto_(proto), name_(name) {}

  void read(std::string_view bytes) {
    Fields fields(bytes, name_);
    while (const auto field = fields.next()) {
      if (field->is(1, WireType::bytes)) read_piece(field->bytes);
      if (field->is(2, WireType::bytes)) read_trainer(field->bytes);
      if (field->is(3, WireType::bytes)) read_normalizer(field->bytes);
    }
  }

 private:
  void read_piece(std::string_view message) {
    SentencePieceProto::Piece piece;
    Fields fields(message, name_);
    while (const auto field = fields.next()) {
      if (field->is(1, WireType::bytes)) piece.text = field->bytes;
      if (field->is(2, WireType::fixed32)) std::memcpy(&piece.score, field->bytes.data(), sizeof piece.score);
      if (field->is(3, WireType::varint)) {
        piece.type = static_cast<SentencePieceProto::PieceType>(one_of(field->value, 6, "a piece's type"));
      }
    }
    proto_.pieces.push_back(std::move(piece));
  }

  void read_trainer(std::string_view message) {
    Fields fields(message, name_);
    while (const auto field = fields.next()) {
      if (field->is(3, WireType::varint)) {
        proto_.model_type = static_cast<SentencePieceProto::ModelType>(one_of(field->value, 4, "the model's type"));
      }
      if (field->is(24, WireType::varint)) proto_.space_is_suffix = field->value != 0;
      if (field->is(35, WireType::varint)) proto_.byte_fallback = field->value != 0;
      if (field->is(40, WireType::varint)) proto_.unknown_id = static_cast<std::int32_t>(field->value);
    }
  }

  void read_normalizer(std::string_view message) {
    Fields fields(message, name_);
    while (const auto field = fields.next()) {
      if (field->is(2, WireType::bytes)) proto_.normalization_table = field->bytes;
      if (field->is(3, WireType::varint)) proto_.add_dummy_prefix = field->value != 0;
      if (field->is(4, WireType::varint)) proto_.remove_extra_spaces = field->value != 0;
      if (field->is(5, WireType::varint)) proto_.escape_spaces = field->value != 0;
    }
  }

  // A value of an enumeration that begins at 1.
  int one_of(std::uint64_t value, std::uint64_t last, std::string_view what) const {
    if (value >= 1 && value <= last) return static_cast<int>(value);
    throw TokenizerError(
        fmt::format("{}: not a sentencepiece model: {} is {}, expected 1 to {}", name_, what, value, last));
  }

  SentencePieceProto& proto_;
  const std::string& name_;
};

}  // namespace

SentencePieceProto SentencePieceProto::read(const std::filesystem::path& path) {
  return parse(read_text_file(path, kMaxSentencePieceBytes), path.string());
}

SentencePieceProto SentencePieceProto::parse(std::string_view bytes, const std::string& name) {
  check_sentencepiece_model(bytes, name);
  SentencePieceProto proto;
  ProtoReader(proto, name).read(bytes);
  return proto;
}

}  // namespace encdec

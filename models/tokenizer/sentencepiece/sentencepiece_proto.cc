#include "encdec/models/tokenizer/sentencepiece/sentencepiece_proto.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/sentencepiece/protobuf_fields.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxSentencePieces = 1'000'000;
constexpr std::size_t kMaxSamples = 100'000;
constexpr std::size_t kMaxUnknownSurfaceBytes = 256;
constexpr std::size_t kMaxOtherFieldBytes = 4u << 20;  // normalisation tables: 0.3 MB; lists of user-defined symbols

using protobuf::Field;
using protobuf::Fields;
using WireType = Field::WireType;

class ProtoReader {
 public:
  ProtoReader(SentencePieceProto& proto, const std::string& name) : proto_(proto), name_(name) {}

  void read(std::string_view bytes) {
    if (bytes.size() > kMaxSentencePieceBytes) fail(fmt::format("{} bytes", bytes.size()));
    each_field(bytes, [&](const Field& field) {
      if (field.is(1, WireType::bytes)) return read_piece(field.bytes);
      if (field.bytes.size() > kMaxOtherFieldBytes) {
        fail(fmt::format("field {} of {} bytes", field.number, field.bytes.size()));
      }
      if (field.is(2, WireType::bytes)) read_trainer(field.bytes);
      if (field.is(3, WireType::bytes)) read_normalization(field.bytes, proto_.normalizer);
      if (field.is(4, WireType::bytes)) read_self_test(field.bytes);
      if (field.is(5, WireType::bytes)) read_normalization(field.bytes, proto_.denormalizer);
    });
    if (proto_.pieces.empty()) fail("no pieces");
  }

 private:
  template <typename Read>
  void each_field(std::string_view message, const Read& read) {
    Fields fields(message, name_);
    while (const auto field = fields.next()) read(*field);
  }

  void read_piece(std::string_view message) {
    const std::size_t index = proto_.pieces.size();
    if (index == kMaxSentencePieces) fail(fmt::format("more than {} pieces", kMaxSentencePieces));
    SentencePieceProto::Piece piece;
    each_field(message, [&](const Field& field) {
      if (field.is(1, WireType::bytes)) piece.text = field.bytes;
      if (field.is(2, WireType::fixed32)) {
        std::memcpy(&piece.score, field.bytes.data(), sizeof piece.score);
        if (!std::isfinite(piece.score)) fail(fmt::format("piece {} has the score {}", index, piece.score));
      }
      if (field.is(3, WireType::varint)) {
        piece.type = static_cast<SentencePieceProto::PieceType>(one_of(field.value, 6, "a piece's type"));
      }
    });
    const std::string& text = piece.text;
    if (text.empty() || text.size() > kMaxPieceBytes) {
      fail(fmt::format("piece {} has {} bytes, expected 1 to {}", index, text.size(), kMaxPieceBytes));
    }
    // Some converters write a piece that is one NUL, beside those for bytes.
    if (find_invalid_utf8(text) || (text.size() > 1 && text.find('\0') != std::string::npos)) {
      fail(fmt::format("piece {} is not UTF-8 without NUL", index));
    }
    proto_.pieces.push_back(std::move(piece));
  }

  void read_trainer(std::string_view message) {
    each_field(message, [&](const Field& field) {
      if (field.is(3, WireType::varint)) {
        proto_.model_type = static_cast<SentencePieceProto::ModelType>(one_of(field.value, 4, "the model's type"));
      }
      if (field.is(24, WireType::varint)) proto_.normalizer.space_is_suffix = field.value != 0;
      if (field.is(35, WireType::varint)) proto_.byte_fallback = field.value != 0;
      if (field.is(44, WireType::bytes)) {
        if (field.bytes.size() > kMaxUnknownSurfaceBytes || find_invalid_utf8(field.bytes)) {
          fail(fmt::format("an unk_surface of {} bytes, expected UTF-8 of at most {}", field.bytes.size(),
                           kMaxUnknownSurfaceBytes));
        }
        proto_.unknown_surface = field.bytes.substr(0, field.bytes.find('\0'));
      }
    });
  }

  void read_normalization(std::string_view message, SentencePieceProto::Normalization& rules) {
    each_field(message, [&](const Field& field) {
      if (field.is(2, WireType::bytes)) read_table(field.bytes, rules);
      if (field.is(3, WireType::varint)) rules.add_dummy_prefix = field.value != 0;
      if (field.is(4, WireType::varint)) rules.remove_extra_spaces = field.value != 0;
      if (field.is(5, WireType::varint)) rules.escape_spaces = field.value != 0;
    });
  }

  void read_table(std::string_view bytes, SentencePieceProto::Normalization& rules) {
    rules.table.reset();
    if (bytes.empty()) return;
    const std::string where = name_ + ": not a sentencepiece model";
    rules.table.emplace(bytes, where).check(where);
  }

  void read_self_test(std::string_view message) {
    each_field(message, [&](const Field& field) {
      if (!field.is(1, WireType::bytes)) return;
      if (proto_.samples.size() == kMaxSamples) fail(fmt::format("more than {} samples", kMaxSamples));
      SentencePieceProto::Sample& sample = proto_.samples.emplace_back();
      each_field(field.bytes, [&](const Field& part) {
        if (part.is(1, WireType::bytes)) sample.input = part.bytes;
        if (part.is(2, WireType::bytes)) sample.expected = part.bytes;
      });
    });
  }

  // A value of an enumeration that begins at 1.
  int one_of(std::uint64_t value, std::uint64_t last, std::string_view what) const {
    if (value >= 1 && value <= last) return static_cast<int>(value);
    fail(fmt::format("{} is {}, expected 1 to {}", what, value, last));
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw TokenizerError(fmt::format("{}: not a sentencepiece model: {}", name_, what));
  }

  SentencePieceProto& proto_;
  const std::string& name_;
};

}  // namespace

SentencePieceProto SentencePieceProto::read(const std::filesystem::path& path) {
  return parse(read_text_file(path, kMaxSentencePieceBytes), path.string());
}

SentencePieceProto SentencePieceProto::parse(std::string_view bytes, const std::string& name) {
  SentencePieceProto proto;
  ProtoReader(proto, name).read(bytes);
  return proto;
}

}  // namespace encdec

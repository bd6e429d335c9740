#include "encdec/models/tokenizer/sentencepiece/sentencepiece_proto.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/base/vocabulary.h"

namespace encdec {
namespace {

// Upper bounds; a larger value is assumed to be damage.
constexpr std::size_t kMaxSamples = 100'000;
constexpr std::size_t kMaxUnknownSurfaceBytes = 256;
// Size of any other field. The largest are normalisation tables, about 0.3 MB, and lists of user-defined symbols.
constexpr std::size_t kMaxOtherFieldBytes = 4u << 20;

// A field of a protobuf message. A known number with an unexpected wire type is an unknown field.
struct Field {
  enum class WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  bool is(std::uint32_t number_, WireType type_) const { return number == number_ && type == type_; }

  std::uint32_t number;
  WireType type;
  std::uint64_t value = 0;      // set for a varint
  std::string_view bytes = {};  // set for all other types
};
using WireType = Field::WireType;

// Parses the protobuf wire format. sentencepiece_model.proto defines the field numbers.
class ProtoReader {
 public:
  ProtoReader(SentencePieceProto& proto, const std::string& where) : proto_(proto), where_(where) {}

  void read(std::string_view bytes) {
    if (bytes.size() > kMaxSentencePieceBytes) refuse<TokenizerError>(where_, "{} bytes", bytes.size());
    each_field(bytes, [&](const Field& field) {
      if (field.is(1, WireType::bytes)) return read_piece(field.bytes);
      if (field.bytes.size() > kMaxOtherFieldBytes) {
        refuse<TokenizerError>(where_, "field {} of {} bytes", field.number, field.bytes.size());
      }
      if (field.is(2, WireType::bytes)) read_trainer(field.bytes);
      if (field.is(3, WireType::bytes)) read_normalization(field.bytes, proto_.normalizer);
      if (field.is(4, WireType::bytes)) read_self_test(field.bytes);
      if (field.is(5, WireType::bytes)) read_normalization(field.bytes, proto_.denormalizer);
    });
    if (proto_.pieces.empty()) refuse<TokenizerError>(where_, "no pieces");
  }

 private:
  template <typename Read>
  void each_field(std::string_view message, const Read& read) {
    while (!message.empty()) read(take_field(message));
  }

  // Remove a field, bytes or an integer from the beginning of a message, and return it.
  Field take_field(std::string_view& rest) const {
    const std::uint64_t tag = take_varint(rest);
    if (tag > std::numeric_limits<std::uint32_t>::max() || tag >> 3 == 0)
      refuse<TokenizerError>(where_, "a field number out of range");
    Field field{.number = static_cast<std::uint32_t>(tag >> 3), .type = static_cast<WireType>(tag & 7)};
    switch (field.type) {
      case WireType::varint: field.value = take_varint(rest); break;
      case WireType::fixed64: field.bytes = take_bytes(rest, 8); break;
      case WireType::bytes: field.bytes = take_bytes(rest, take_varint(rest)); break;
      case WireType::fixed32: field.bytes = take_bytes(rest, 4); break;
      default: refuse<TokenizerError>(where_, "a field of wire type {}", tag & 7);
    }
    return field;
  }

  std::string_view take_bytes(std::string_view& rest, std::uint64_t size) const {
    if (size > rest.size()) {
      refuse<TokenizerError>(where_, "a field of {} bytes where {} are left", size, rest.size());
    }
    const std::string_view taken = rest.substr(0, static_cast<std::size_t>(size));
    rest.remove_prefix(taken.size());
    return taken;
  }

  std::uint64_t take_varint(std::string_view& rest) const {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take_bytes(rest, 1)[0]);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    refuse<TokenizerError>(where_, "a number of more than ten bytes");
  }

  // Reads a ModelProto.SentencePiece.
  void read_piece(std::string_view message) {
    const std::size_t index = proto_.pieces.size();
    if (index == kMaxPieces) refuse<TokenizerError>(where_, "more than {} pieces", kMaxPieces);
    SentencePieceProto::Piece piece;
    each_field(message, [&](const Field& field) {
      if (field.is(1, WireType::bytes)) piece.text = field.bytes;
      if (field.is(2, WireType::fixed32)) {
        std::memcpy(&piece.score, field.bytes.data(), sizeof piece.score);
        if (!std::isfinite(piece.score))
          refuse<TokenizerError>(where_, "piece {} has the score {}", index, piece.score);
      }
      if (field.is(3, WireType::varint)) {
        piece.type = static_cast<SentencePieceProto::PieceType>(one_of(field.value, 6, "a piece's type"));
      }
    });
    const std::string& text = piece.text;
    if (text.empty() || text.size() > kMaxPieceBytes) {
      refuse<TokenizerError>(where_, "piece {} has {} bytes, expected 1 to {}", index, text.size(), kMaxPieceBytes);
    }
    // Allow a piece of one NUL byte: some converters write one in addition to the byte pieces.
    if (find_invalid_utf8(text) || (text.size() > 1 && text.find('\0') != std::string::npos)) {
      refuse<TokenizerError>(where_, "piece {} is not valid UTF-8 or contains a NUL byte", index);
    }
    proto_.pieces.push_back(std::move(piece));
  }

  // Reads a TrainerSpec.
  void read_trainer(std::string_view message) {
    each_field(message, [&](const Field& field) {
      if (field.is(3, WireType::varint)) {
        proto_.model_type = static_cast<SentencePieceProto::ModelType>(one_of(field.value, 4, "the model's type"));
      }
      if (field.is(24, WireType::varint)) proto_.normalizer.space_is_suffix = field.value != 0;
      if (field.is(35, WireType::varint)) proto_.byte_fallback = field.value != 0;
      if (field.is(44, WireType::bytes)) {
        if (field.bytes.size() > kMaxUnknownSurfaceBytes || find_invalid_utf8(field.bytes)) {
          refuse<TokenizerError>(where_, "an unk_surface of {} bytes, expected UTF-8 of at most {}", field.bytes.size(),
                                 kMaxUnknownSurfaceBytes);
        }
        proto_.unknown_surface = field.bytes.substr(0, field.bytes.find('\0'));
      }
    });
  }

  // Reads a NormalizerSpec.
  void read_normalization(std::string_view message, SentencePieceProto::Normalization& rules) {
    each_field(message, [&](const Field& field) {
      if (field.is(2, WireType::bytes)) read_table(field.bytes, rules);
      if (field.is(3, WireType::varint)) rules.add_dummy_prefix = field.value != 0;
      if (field.is(4, WireType::varint)) rules.remove_extra_spaces = field.value != 0;
      if (field.is(5, WireType::varint)) rules.escape_spaces = field.value != 0;
    });
  }

  void read_table(std::string_view bytes, SentencePieceProto::Normalization& rules) {
    std::optional<NormalizationTable> table;
    if (!bytes.empty()) table.emplace(bytes, where_).check(where_);
    rules.table = std::move(table);
  }

  // Reads a SelfTestData.
  void read_self_test(std::string_view message) {
    each_field(message, [&](const Field& field) {
      if (!field.is(1, WireType::bytes)) return;
      if (proto_.samples.size() == kMaxSamples) refuse<TokenizerError>(where_, "more than {} samples", kMaxSamples);
      SentencePieceProto::Sample& sample = proto_.samples.emplace_back();
      each_field(field.bytes, [&](const Field& part) {
        if (part.is(1, WireType::bytes)) sample.input = part.bytes;
        if (part.is(2, WireType::bytes)) sample.expected = part.bytes;
      });
    });
  }

  // Returns `value` if it is from 1 to `last`. Throws TokenizerError otherwise.
  int one_of(std::uint64_t value, std::uint64_t last, std::string_view what) const {
    if (value >= 1 && value <= last) return static_cast<int>(value);
    refuse<TokenizerError>(where_, "{} is {}, expected 1 to {}", what, value, last);
  }

  SentencePieceProto& proto_;
  const std::string& where_;
};

}  // namespace

SentencePieceProto SentencePieceProto::parse(std::string_view bytes, const std::string& name) {
  SentencePieceProto proto;
  ProtoReader(proto, fmt::format("{}: not a sentencepiece model", name)).read(bytes);
  return proto;
}

}  // namespace encdec

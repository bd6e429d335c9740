#include "encdec/models/tokenizer/sentencepiece/protobuf_fields.h"

#include <fmt/format.h>

#include <limits>

#include "encdec/engine/base/error.h"

namespace encdec::protobuf {

std::optional<Field> Fields::next() {
  if (rest_.empty()) return std::nullopt;
  const std::uint64_t tag = varint();
  if (tag > std::numeric_limits<std::uint32_t>::max() || tag >> 3 == 0) fail("a field number out of range");
  Field field{.number = static_cast<std::uint32_t>(tag >> 3), .type = static_cast<Field::WireType>(tag & 7)};
  switch (field.type) {
    case Field::WireType::varint: field.value = varint(); break;
    case Field::WireType::fixed64: field.bytes = take(8); break;
    case Field::WireType::bytes: field.bytes = take(varint()); break;
    case Field::WireType::fixed32: field.bytes = take(4); break;
    default: fail(fmt::format("a field of wire type {}", tag & 7));
  }
  return field;
}

std::string_view Fields::take(std::uint64_t size) {
  if (size > rest_.size()) fail(fmt::format("a field of {} bytes where {} are left", size, rest_.size()));
  const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(size));
  rest_.remove_prefix(taken.size());
  return taken;
}

std::uint64_t Fields::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(take(1)[0]);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  fail("a number of more than ten bytes");
}

void Fields::fail(std::string_view what) const {
  throw TokenizerError(fmt::format("{}: not a sentencepiece model: {}", name_, what));
}

}  // namespace encdec::protobuf

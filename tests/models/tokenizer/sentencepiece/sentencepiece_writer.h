#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::test {

// The functions below return protobuf fields as bytes.
inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string number_field(std::uint64_t field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
inline std::string bytes_field(std::uint64_t field, std::string_view value) {
  return varint(field << 3 | 2) + varint(value.size()) + std::string(value);
}
inline std::string float_field(std::uint64_t field, float value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return varint(field << 3 | 5) + bytes;
}

enum ModelType { kUnigram = 1, kBpe = 2, kWord = 3, kCharacter = 4 };
enum PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

inline std::string piece(std::string_view text, float score = -1, PieceType type = kNormal) {
  return bytes_field(1, bytes_field(1, text) + float_field(2, score) + number_field(3, type));
}
inline std::string unknown_piece() {
  return piece("<unk>", 0, kUnknown);
}
inline std::string byte_pieces() {
  std::string pieces;
  for (int byte = 0; byte < 256; ++byte) pieces += piece(fmt::format("<0x{:02X}>", byte), 0, kByte);
  return pieces;
}
inline std::string normalizer(std::string_view charsmap) {
  return bytes_field(3, bytes_field(2, charsmap));
}

inline std::string small_model() {
  return unknown_piece() + piece("▁a") + piece("a", -2) + piece("b") + piece("▁", -3);
}

// A normalization table whose trie knows "a", "aa", "aaa", and so on. The children of each node are a block of 256
// units.
class ChainTrie {
 public:
  static constexpr std::uint32_t kMatch = 1u << 8;
  static constexpr std::uint32_t kValue = 1u << 31;

  explicit ChainTrie(std::uint32_t length) : units(256 * (length + 2), kValue) {
    for (std::uint32_t i = 0; i <= length; ++i) set(position(i), i == 0 ? 0 : 'a', base(i), i != 0);
    for (std::uint32_t i = 1; i <= length; ++i) units[base(i)] = kValue;
  }

  static std::uint32_t position(std::uint32_t i) { return i == 0 ? 0 : base(i - 1) ^ 'a'; }
  static std::uint32_t base(std::uint32_t i) { return 256 * (i + 1); }

  void set(std::uint32_t unit, std::uint32_t label, std::uint32_t children, bool ends_match) {
    units[unit] = label | (ends_match ? kMatch : 0) | (unit ^ children) << 10;
  }

  std::string table(std::string_view replacements) const {
    const auto size = static_cast<std::uint32_t>(units.size() * sizeof(std::uint32_t));
    std::string bytes(sizeof size + size, '\0');
    std::memcpy(bytes.data(), &size, sizeof size);
    std::memcpy(bytes.data() + sizeof size, units.data(), size);
    return bytes + std::string(replacements);
  }

  std::vector<std::uint32_t> units;
};

}  // namespace encdec::test

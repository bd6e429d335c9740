#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace encdec {

// 128 bits that stand for a content: two different ones get the same by nothing but design.
using ContentHash = std::array<std::byte, 16>;

// XXH3, fed piece by piece.
class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  ContentHasher(const ContentHasher&) = delete;
  ContentHasher& operator=(const ContentHasher&) = delete;

  // Bytes as such: where one call ends and the next begins makes no difference.
  void add(std::span<const std::byte> bytes);
  // With its length, so that neighbours cannot exchange their ends.
  void add_text(std::string_view text);
  void add_number(std::uint64_t number);

  // The hash of everything so far.
  ContentHash hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The hash of bytes that are there as a whole.
ContentHash content_hash(std::span<const std::byte> bytes);

}  // namespace encdec

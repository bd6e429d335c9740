#include "encdec/models/checkpoint/content_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>

namespace encdec {

struct ContentHasher::State {
  XXH3_state_t xxh3;
};

ContentHasher::ContentHasher() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh3);
}
ContentHasher::~ContentHasher() = default;

void ContentHasher::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

void ContentHasher::add_text(std::string_view text) {
  add_number(text.size());
  add(std::as_bytes(std::span(text)));
}

void ContentHasher::add_number(std::uint64_t number) {
  static_assert(std::endian::native == std::endian::little);
  add(std::as_bytes(std::span(&number, 1)));
}

ContentHash ContentHasher::hash() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->xxh3));
  ContentHash hash;
  std::ranges::copy(std::as_bytes(std::span(canonical.digest)), hash.begin());
  return hash;
}

ContentHash content_hash(std::span<const std::byte> bytes) {
  ContentHasher hasher;
  hasher.add(bytes);
  return hasher.hash();
}

}  // namespace encdec

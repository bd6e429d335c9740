#include "encdec/models/checkpoint/packed_weights_file.h"

#define XXH_INLINE_ALL
#ifndef NDEBUG
#define XXH_NO_INLINE_HINTS 1  // gcc's -Og cannot inline xxHash's always_inline functions
#endif
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <set>

#include "encdec/engine/base/checked_math.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/models/checkpoint/byte_reader.h"

namespace encdec {
namespace {

constexpr std::string_view kPackedMagic = "ENCDECPW";
constexpr std::size_t kHashBytes = sizeof(ContentHash);
constexpr std::size_t kHeaderBytes = 8 + 4 + 4 + kHashBytes + 8 + 8;
constexpr std::size_t kEntryBytes = 4 + 8 + kHashBytes;  // bytes of an entry without its name

// Returns the smallest multiple of Tensor::kAlignment that is at least `offset`; nullopt if it overflows.
std::optional<std::size_t> aligned(std::size_t offset) {
  const auto end = checked_add(offset, Tensor::kAlignment - 1);
  if (!end) return std::nullopt;
  return *end / Tensor::kAlignment * Tensor::kAlignment;
}

template <std::unsigned_integral T>
void append_number(std::string& text, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) text += static_cast<char>(number >> (8 * i) & 0xff);
}

ContentHash take_hash(ByteReader& reader, std::string_view what) {
  ContentHash hash;
  std::ranges::copy(reader.take(kHashBytes, what), hash.begin());
  return hash;
}

}  // namespace

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

// The head consists of a fixed-size header, the table of entries, and a hash of both.
std::string packed_weights_head(const ContentHash& key, std::vector<PackedEntry>& entries) {
  std::string table;
  for (const PackedEntry& entry : entries) {
    append_number(table, static_cast<std::uint32_t>(entry.name.size()));
    table += entry.name;
    append_number(table, std::uint64_t{entry.bytes});
    table += as_text(entry.hash);
  }
  const std::size_t head_bytes = kHeaderBytes + table.size() + kHashBytes;
  // Compute the offsets of the matrices, which follow the head. Each matrix is aligned like a tensor.
  std::size_t end = head_bytes;
  for (PackedEntry& entry : entries) {
    entry.offset = aligned(end).value();
    end = entry.offset + entry.bytes;
  }
  std::string head(kPackedMagic);
  append_number(head, kPackedWeightsVersion);
  append_number(head, static_cast<std::uint32_t>(entries.size()));
  head += as_text(key);
  append_number(head, std::uint64_t{head_bytes});
  append_number(head, std::uint64_t{end});
  head += table;
  head += as_text(content_hash(std::as_bytes(std::span(head))));
  return head;
}

std::vector<PackedEntry> read_packed_weights(std::span<const std::byte> bytes, const ContentHash& key,
                                             const std::string& file) {
  const auto expect = [&file](bool good, std::string_view found, std::string_view expected) {
    if (!good) refuse(file, "{}, expected {}", found, expected);
  };
  // Check the header: the file must be complete, have this version, and be packed from these weights.
  ByteReader header(bytes, file);
  expect(as_text(header.take(kPackedMagic.size(), "the header")) == kPackedMagic, "not a file of packed weights",
         "one");
  expect(header.number<std::uint32_t>("the header") == kPackedWeightsVersion, "another version of the format",
         std::to_string(kPackedWeightsVersion));
  const auto count = header.number<std::uint32_t>("the header");
  expect(take_hash(header, "the header") == key, "packed from other weights", "the key in its name");
  const auto head_bytes = header.number<std::uint64_t>("the header");
  const auto file_bytes = header.number<std::uint64_t>("the header");
  expect(file_bytes == bytes.size(), fmt::format("{} bytes", bytes.size()), fmt::format("{}", file_bytes));
  expect(head_bytes >= kHeaderBytes + kHashBytes && head_bytes <= bytes.size(), fmt::format("a head of {}", head_bytes),
         "one inside the file");

  // Compare the head with its hash, which detects any damage.
  const auto head = bytes.first(static_cast<std::size_t>(head_bytes));
  const auto hashed = head.first(head.size() - kHashBytes);
  expect(std::ranges::equal(content_hash(hashed), head.last(kHashBytes)), "the head is damaged",
         "bytes that match its hash");

  // Read the table. The offset of each matrix follows from the sizes of the matrices before it.
  ByteReader table(hashed.subspan(kHeaderBytes), file);
  expect(count <= table.left() / kEntryBytes, fmt::format("{} matrices", count), "as many as the head has room for");
  std::vector<PackedEntry> entries;
  entries.reserve(count);
  std::set<std::string_view> names;
  std::size_t end = head.size();
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto length = table.number<std::uint32_t>("a name's length");
    expect(length <= kMaxPackedName, fmt::format("a name of {} bytes", length), fmt::format("{}", kMaxPackedName));
    const std::string_view name = as_text(table.take(length, "a name"));
    expect(names.insert(name).second, "a name twice", "each once");
    const auto size = table.number<std::uint64_t>("a size");
    const ContentHash hash = take_hash(table, "a hash");
    const auto offset = aligned(end);
    const auto last = offset ? checked_add<std::size_t>(*offset, size) : std::nullopt;
    expect(last && *last <= bytes.size(), fmt::format("matrix {} of {} bytes", i + 1, size), "one inside the file");
    entries.push_back({std::string(name), static_cast<std::size_t>(size), hash, *offset});
    end = *last;
  }
  expect(table.left() == 0, fmt::format("{} bytes after the last matrix's name", table.left()), "none");
  expect(end == bytes.size(), fmt::format("{} bytes after the last matrix", bytes.size() - end), "none");
  return entries;
}

}  // namespace encdec

#include "encdec/models/generation/lexical_shortlist.h"

#include <algorithm>
#include <cstring>

#include "encdec/models/checkpoint/byte_reader.h"

namespace encdec {
namespace {

constexpr std::uint64_t kMagic = 0xF11A48D5013417F5;  // first 64 bits of a file, as in marian-dev
constexpr std::size_t kMultiple = 8;                  // the number of allowed tokens is a multiple of this

// Returns the hash of all whole 64-bit words, as in marian-dev's src/data/shortlist.cpp.
std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    hash ^= word + 0x9e3779b9 + (hash << 6) + (hash >> 2);
  }
  return hash;
}

}  // namespace

LexicalShortlist::LexicalShortlist(const FileBytes& file, const Sizes& sizes) : sizes_(sizes) {
  refuse_git_lfs_pointer(file.bytes, file.name);
  ByteReader reader(file.bytes, file.name);
  if (reader.number<std::uint64_t>("the first word") != kMagic) {
    refuse(file.name, "unknown first word, expected a lexical shortlist in Marian's binary format");
  }
  const auto expected = reader.number<std::uint64_t>("the checksum");
  if (checksum(file.bytes.subspan(reader.position())) != expected) {
    refuse(file.name, "the checksum does not match the content: the file is damaged");
  }
  // Read the header and check it against the sizes of the vocabularies and of the file.
  frequent_ = reader.number<std::uint64_t>("the number of frequent tokens");
  reader.number<std::uint64_t>("the length of the lists");  // not needed, because the offsets determine the length
  const auto lists = reader.number<std::uint64_t>("the number of lists");
  const auto entries = reader.number<std::uint64_t>("the number of entries");
  const auto source = static_cast<std::uint64_t>(sizes.source), target = static_cast<std::uint64_t>(sizes.target);
  if (lists != source + 1 || frequent_ > target || entries > reader.left() / sizeof(std::uint32_t)) {
    refuse(file.name, "{} lists, {} entries and {} frequent tokens, expected those of {} source and {} target tokens",
           lists, entries, frequent_, source, target);
  }
  // Read the offsets of the lists. Offsets start at 0, never descend, and end at the number of entries.
  for (std::uint64_t i = 0; i < lists; ++i) {
    const auto offset = reader.number<std::uint64_t>("an offset");
    if (offset > entries || (i == 0 ? offset != 0 : offset < offsets_.back()) ||
        (i + 1 == lists && offset != entries)) {
      refuse(file.name, "offset {} of list {}, expected ascending numbers from 0 to {}", offset, i, entries);
    }
    offsets_.push_back(static_cast<std::size_t>(offset));
  }
  for (std::uint64_t i = 0; i < entries; ++i) {
    const auto token = reader.number<std::uint32_t>("an entry");
    if (token >= target) refuse(file.name, "entry {} is token {}, expected one below {}", i, token, target);
    translations_.push_back(static_cast<std::int32_t>(token));
  }
}

TokenIds LexicalShortlist::tokens_for(const TokenIds& source) const {
  std::vector<bool> is_allowed(static_cast<std::size_t>(sizes_.target));
  std::fill_n(is_allowed.begin(), frequent_, true);
  std::size_t count = frequent_;
  const auto allow = [&](std::int32_t token) {
    const auto index = static_cast<std::size_t>(token);
    if (index >= is_allowed.size() || is_allowed[index]) return;
    is_allowed[index] = true;
    ++count;
  };
  // Allow the translations of the source tokens.
  for (const std::int32_t token : source) {
    const auto index = static_cast<std::size_t>(token);
    if (index + 1 >= offsets_.size()) continue;
    std::for_each(translations_.begin() + static_cast<std::ptrdiff_t>(offsets_[index]),
                  translations_.begin() + static_cast<std::ptrdiff_t>(offsets_[index + 1]), allow);
    if (sizes_.is_shared) allow(token);
  }
  // Allow further tokens, lowest ids first, until the number of allowed tokens is a multiple of kMultiple.
  for (std::size_t token = frequent_; token < is_allowed.size() && count % kMultiple != 0; ++token) {
    allow(static_cast<std::int32_t>(token));
  }
  TokenIds tokens;
  for (std::size_t token = 0; token < is_allowed.size(); ++token) {
    if (is_allowed[token]) tokens.push_back(static_cast<std::int32_t>(token));
  }
  return tokens;
}

}  // namespace encdec

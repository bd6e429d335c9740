#include "encdec/models/checkpoint/packed_weights_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "encdec/engine/base/error.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

const ContentHash kKey = content_hash(std::as_bytes(std::span("key")));

std::vector<PackedEntry> entries_of(std::initializer_list<std::string> names, std::size_t bytes = 5) {
  std::vector<PackedEntry> entries;
  for (const std::string& name : names) entries.push_back({.name = name, .bytes = bytes});
  return entries;
}

std::string file_of(std::vector<PackedEntry> entries) {
  std::string file = packed_weights_head(kKey, entries);
  for (const PackedEntry& entry : entries) {
    file.resize(entry.offset);
    file.append(entry.bytes, 'x');
  }
  return file;
}

std::vector<PackedEntry> read_packed(const std::string& file) {
  const ExactBytes bytes(file);
  return read_packed_weights(bytes.bytes(), kKey, "x");
}

std::string packed_refusal(const std::string& file) {
  return refusal_of("x: ", [&] { read_packed(file); });
}

// Returns the head with the correct hash of its contents.
std::string with_hash(std::string head) {
  head.resize(head.size() - sizeof(ContentHash));
  const ContentHash hash = content_hash(std::as_bytes(std::span(head)));
  return head.append(reinterpret_cast<const char*>(hash.data()), hash.size());
}

TEST(ContentHash, MatchesTheSpecificationHoweverTheBytesAreSplit) {
  // The specification's XXH3-128 of no bytes with seed 0.
  const ContentHash empty = content_hash({});
  EXPECT_EQ(std::to_integer<int>(empty[0]), 0x99);
  EXPECT_EQ(std::to_integer<int>(empty[15]), 0x7f);
  const std::string text(1000, 'a');
  const auto bytes = std::as_bytes(std::span(text));
  ContentHasher pieces;
  pieces.add(bytes.first(333));
  pieces.add({});
  pieces.add(bytes.subspan(333));
  EXPECT_EQ(pieces.hash(), content_hash(bytes));
  EXPECT_NE(pieces.hash(), content_hash(bytes.first(999)));
}

TEST(ContentHash, TextsWithDifferentBoundariesHaveDifferentHashes) {
  ContentHasher a, b;
  a.add_text("ab");
  a.add_text("c");
  b.add_text("a");
  b.add_text("bc");
  EXPECT_NE(a.hash(), b.hash());
}

TEST(PackedWeightsFile, ReadsWhatWasWrittenAtAlignedOffsets) {
  const std::vector<PackedEntry> entries = read_packed(file_of(entries_of({"a", "bb", ""})));
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[1].name, "bb");
  EXPECT_EQ(entries[1].bytes, 5u);
  for (const PackedEntry& entry : entries) EXPECT_EQ(entry.offset % 64, 0u);
  EXPECT_TRUE(read_packed(file_of({})).empty());
}

TEST(PackedWeightsFile, EveryDamageOfTheHeadIsRefused) {
  const std::string whole = file_of(entries_of({"a", "bb"}));
  std::uint64_t head = 0;
  std::memcpy(&head, whole.data() + 32, sizeof(head));
  const DamageReport report = read_damaged(whole, [&](const std::string& damaged) {
    read_packed(damaged);
    EXPECT_EQ(damaged.substr(0, head), whole.substr(0, head));
    EXPECT_EQ(damaged.size(), whole.size());
  });
  EXPECT_GT(report.refused, 4 * head - 10);
}

TEST(PackedWeightsFile, RefusesInconsistentContentsEvenWithACorrectHash) {
  EXPECT_EQ(packed_refusal("ENCDECPV" + file_of({}).substr(8)), "x: not a file of packed weights, expected one");
  std::string other = file_of({});
  other[8] = 2;
  EXPECT_EQ(packed_refusal(other), "x: another version of the format, expected 1");
  other = file_of({});
  other[16] = static_cast<char>(other[16] ^ 1);
  EXPECT_EQ(packed_refusal(other), "x: packed from other weights, expected the key in its name");
  EXPECT_EQ(packed_refusal(file_of(entries_of({"a", "a"}))), "x: a name twice, expected each once");
  EXPECT_EQ(packed_refusal(file_of(entries_of({std::string(70'000, 'n')}))),
            "x: a name of 70000 bytes, expected 65535");

  // Completes a head without data: sets the file size to the size of the head, and writes the hash.
  const auto head_of = [](std::string head) {
    const std::uint64_t bytes = head.size();
    std::memcpy(head.data() + 40, &bytes, sizeof(bytes));
    return with_hash(head);
  };
  for (const std::size_t size : {std::size_t{1}, std::numeric_limits<std::size_t>::max()}) {
    std::vector<PackedEntry> entries = entries_of({"a"});
    std::string head = packed_weights_head(kKey, entries);
    std::memcpy(head.data() + 48 + 4 + 1, &size, sizeof(size));
    EXPECT_EQ(packed_refusal(head_of(head)),
              "x: matrix 1 of " + std::to_string(size) + " bytes, expected one inside the file");
  }
  std::vector<PackedEntry> entries = entries_of({"a"});
  std::string head = packed_weights_head(kKey, entries);
  head[12] = 2;
  EXPECT_EQ(packed_refusal(head_of(head)), "x: 2 matrices, expected as many as the head has room for");
  head[12] = 0;
  EXPECT_EQ(packed_refusal(head_of(head)), "x: 29 bytes after the last matrix's name, expected none");
}

}  // namespace
}  // namespace encdec

#include "encdec/models/checkpoint/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"
#include "tests/support/zip_writer.h"

namespace encdec {
namespace {

using testing::HasSubstr;

std::string text_of(const FileBytes& content) {
  return {reinterpret_cast<const char*>(content.bytes.data()), content.bytes.size()};
}

// Reads all entries of an archive.
std::vector<std::pair<std::string, std::string>> read_archive(const std::string& text) {
  const ExactBytes memory(text);
  const ZipArchive archive({memory.bytes(), memory.owner(), "x.zip"});
  std::vector<std::pair<std::string, std::string>> contents;
  for (const ZipEntry& entry : archive.entries()) {
    EXPECT_EQ(archive.find(entry.name), &entry);
    contents.emplace_back(entry.name, text_of(archive.read(entry)));
  }
  return contents;
}

std::string archive_refusal(const std::string& text) {
  return refusal_of("x.zip: ", [&] { read_archive(text); });
}

ZipWriterEntry deflated_entry(const std::string& name, const std::string& text) {
  ZipWriterEntry entry{name, deflated(text)};
  entry.method = 8;
  entry.size = text.size();
  entry.checksum = zip_checksum(text);
  return entry;
}

const std::vector<std::pair<std::string, std::string>> kContents = {{"a", "first"}, {"b/c", std::string(3000, 'x')}};

std::vector<ZipWriterEntry> two_entries() {
  return {deflated_entry("b/c", kContents[1].second), {"a", "first"}};
}

TEST(ZipArchive, ReadsStoredAndDeflatedEntriesByName) {
  EXPECT_EQ(read_archive(zip_bytes(two_entries())), kContents);
  EXPECT_EQ(read_archive(zip_bytes(two_entries(), {.comment = "any"})), kContents);
  EXPECT_EQ(read_archive(zip_bytes(two_entries(), {.prefix = "a program that unpacks it"})), kContents);
  EXPECT_TRUE(read_archive(zip_bytes({})).empty());
}

TEST(ZipArchive, ReadsSizesAndOffsetsOf64Bits) {
  auto entries = two_entries();
  entries[0].zip64 = entries[1].zip64 = true;
  EXPECT_EQ(read_archive(zip_bytes(entries)), kContents);
  EXPECT_EQ(read_archive(zip_bytes(entries, {.zip64 = true})), kContents);
  EXPECT_EQ(read_archive(zip_bytes(two_entries(), {.zip64 = true, .comment = "any"})), kContents);
}

TEST(ZipArchive, StoredEntriesAreViewsOfTheFile) {
  const ExactBytes memory(zip_bytes(two_entries()));
  const ZipArchive archive({memory.bytes(), memory.owner(), "x.zip"});
  const ZipEntry& entry = *archive.find("a");
  EXPECT_EQ(archive.read(entry).bytes.data(), memory.bytes().data() + entry.offset);
  EXPECT_EQ(archive.find("c"), nullptr);
}

TEST(ZipArchive, RefusesInconsistentEntries) {
  struct Case {
    std::string expected;
    std::function<void(std::vector<ZipWriterEntry>&)> change;
  };
  const std::vector<Case> cases = {
      {"entry 'a': the local header has another name", [](auto& all) { all[1].local_name = std::string("b"); }},
      {"entry 'a': the local header has another method", [](auto& all) { all[1].local_method = 8; }},
      {"entry 'a': the local header has another flags", [](auto& all) { all[1].local_flags = 2; }},
      {"entry 'a': the local header has another size", [](auto& all) { all[1].local_size = 4; }},
      {"entry 'a': encrypted", [](auto& all) { all[1].flags = 1; }},
      {"entry 'a': flags 0x0020", [](auto& all) { all[1].flags = 0x20; }},
      {"entry 'a': compression method 12", [](auto& all) { all[1].method = 12; }},
      {"entry 'a': stored 6 bytes as 5", [](auto& all) { all[1].size = 6; }},
      {"entry 'a' is there twice", [](auto& all) { all[0].name = std::string("a"); }},
      {"expected a name without NUL bytes", [](auto& all) { all[0].name = std::string("b\0c", 3); }},
      {"expected a name without NUL bytes", [](auto& all) { all[0].name.clear(); }},
      {"entry 'b/c': 3001 bytes from 2, expected at most 1032 times as many",
       [](auto& all) { all[0].data = std::string("ab"), all[0].size = 3001; }},
      {"entry 'b/c': damaged data, expected a deflate stream of 2999 bytes", [](auto& all) { all[0].size = 2999; }},
      {"entry 'b/c': damaged data, expected a deflate stream of 3001 bytes", [](auto& all) { all[0].size = 3001; }},
      {"entry 'b/c': damaged data, expected a deflate stream of 3000 bytes",
       [](auto& all) { all[0].data += std::string("x"); }},
      {"entry 'b/c': damaged data, expected the checksum", [](auto& all) { all[0].checksum = 1; }},
      {"begins at byte 0 inside entry 'b/c', expected no overlaps",
       [](auto& all) { all[1] = all[0], all[1].local_offset = 0; }},
      {"expected it before the directory", [](auto& all) { all[1].local_offset = 1000000; }},
      {"no local header at the offset in the directory", [](auto& all) { all[1].local_offset = 3; }},
      {"expected 18446744073709551615 of the data",
       [](auto& all) { all[1].zip64 = true, all[1].size = all[1].compressed_size = ~0ull; }},
      {"expected it before the directory", [](auto& all) { all[1].zip64 = true, all[1].local_offset = ~0ull; }},
  };
  for (const auto& [expected, change] : cases) {
    auto entries = two_entries();
    change(entries);
    EXPECT_THAT(archive_refusal(zip_bytes(entries)), HasSubstr(expected));
  }
}

TEST(ZipArchive, RefusesEntriesThatGrowFarBeyondTheArchive) {
  // The check inflates no data: this data is not even a deflate stream.
  ZipWriterEntry entry{"x", std::string(40'000, 'x')};
  entry.method = 8;
  entry.size = 40'000'000;
  EXPECT_THAT(archive_refusal(zip_bytes({entry})), HasSubstr("damaged data"));
  ZipWriterEntry second = entry;
  second.name = "y";
  EXPECT_THAT(archive_refusal(zip_bytes({entry, second})),
              HasSubstr("deflated entries of more than 67108864 bytes in an archive of 80"));
  // A stored entry adds only its own size to the size of the archive.
  EXPECT_THAT(archive_refusal(zip_bytes({entry, second, {"z", std::string(5'000'000, 'z')}})),
              HasSubstr("damaged data"));
}

TEST(ZipArchive, ReadsOnlyTheBeginningOfAnEntry) {
  auto entries = two_entries();
  entries[0].data.back() = '\xff';
  entries[0].checksum = 1;
  const ExactBytes memory(zip_bytes(entries));
  const ZipArchive archive({memory.bytes(), memory.owner(), "x.zip"});
  EXPECT_EQ(text_of(archive.read_front(*archive.find("b/c"), 5)), "xxxxx");
  EXPECT_EQ(text_of(archive.read_front(*archive.find("a"), 2)), "fi");
  EXPECT_EQ(text_of(archive.read_front(*archive.find("a"), 100)), "first");
  EXPECT_THROW(archive.read(*archive.find("b/c")), FileError);
}

TEST(ZipArchive, RefusesInconsistentDirectories) {
  auto entries = two_entries();
  entries[0].zip64 = entries[1].zip64 = true;  // longer entries in the directory
  EXPECT_THAT(archive_refusal(zip_bytes(entries, {.entries_more = 1})), HasSubstr("an entry of the directory"));
  EXPECT_THAT(archive_refusal(zip_bytes(entries, {.entries_more = -1})), HasSubstr("after the last entry"));
  EXPECT_THAT(archive_refusal(zip_bytes(entries, {.entries_more = 5})), HasSubstr("7 entries in a directory of"));
  EXPECT_THAT(archive_refusal(zip_bytes(entries, {.directory_offset_more = 1})),
              HasSubstr("expected it to end at byte"));
  EXPECT_THAT(archive_refusal(zip_bytes(entries, {.directory_size_more = -1})),
              HasSubstr("expected it to end at byte"));
  EXPECT_THAT(archive_refusal(zip_bytes(entries, {.zip64 = true, .directory_size_more = -7})),
              HasSubstr("expected it to end at byte"));
  EXPECT_THAT(archive_refusal(zip_bytes(entries, {.zip64 = true, .entries_more = 1ll << 60})),
              HasSubstr("entries in a"));
  EXPECT_THAT(archive_refusal(""), HasSubstr("no end record"));
  EXPECT_THAT(archive_refusal(zip_bytes(entries) + "x"), HasSubstr("no end record"));
  EXPECT_THAT(archive_refusal("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("Git LFS"));
}

TEST(ZipArchive, ReportsAnErrorForEveryDamage) {
  auto entries = two_entries();
  entries[1].zip64 = true;
  for (const bool zip64 : {false, true}) {
    const std::string whole = zip_bytes(entries, {.zip64 = zip64});
    EXPECT_GT(read_damaged(whole, [](const std::string& damaged) { read_archive(damaged); }).refused, whole.size());
  }
}

}  // namespace
}  // namespace encdec

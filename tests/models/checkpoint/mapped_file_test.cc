#include "encdec/models/checkpoint/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

std::string text_of(const MappedFile& file) {
  const auto bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(MappedFile, HoldsTheBytesOfTheFile) {
  const TempFolder folder;
  for (const std::string& content : {std::string("a\0b\n\xff", 5), std::string()}) {
    EXPECT_EQ(text_of(*MappedFile::open(folder.write("file", content))), content);
  }
}

TEST(MappedFile, FollowsTheLinksOfModelCaches) {
  const TempFolder folder;
  folder.write("blob", "content");
  std::filesystem::create_symlink("blob", folder / "link");
  EXPECT_EQ(text_of(*MappedFile::open(folder / "link")), "content");
}

TEST(MappedFile, KeepsItsContentWhenTheFileIsReplaced) {
  const TempFolder folder;
  const auto file = MappedFile::open(folder.write("file", "old"));
  std::filesystem::rename(folder.write("new", "new content"), folder / "file");
  EXPECT_EQ(text_of(*file), "old");
  std::filesystem::remove(folder / "file");
  EXPECT_EQ(text_of(*file), "old");
}

TEST(MappedFile, ReadsOnlyItsOwnBytes) {
  const TempFolder folder;
  std::string content(100'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 / 3);
  const auto file = MappedFile::open(folder.write("file", content));
  for (const auto& [begin, count] :
       {std::pair<std::size_t, std::size_t>{0, 100'000}, {5000, 20'000}, {1, 2}, {99'999, 1}, {100'000, 0}}) {
    std::string read(count, '\0');
    EXPECT_TRUE(file->read(file->bytes().subspan(begin, count), std::as_writable_bytes(std::span(read)).data()));
    EXPECT_EQ(read, content.substr(begin, count));
  }
  std::string other(200, 'x'), read(200, 'y');
  EXPECT_FALSE(file->read(std::as_bytes(std::span(other)), std::as_writable_bytes(std::span(read)).data()));
  EXPECT_EQ(read, std::string(200, 'y')) << "not this file's memory";
}

TEST(MappedFile, ReadingAFileThatHasBecomeShorterIsAnError) {
  const TempFolder folder;
  const auto path = folder.write("file", std::string(10'000, 'a'));
  const auto file = MappedFile::open(path);
  std::filesystem::resize_file(path, 5'000);
  std::vector<std::byte> read(10'000);
  EXPECT_TRUE(file->read(file->bytes().first(5'000), read.data()));
  EXPECT_EQ(message_of<FileError>([&] { file->read(file->bytes().subspan(1, 5'000), read.data()); }),
            path.string() + ": has become shorter while it was read, expected 10000 bytes");
}

TEST(ReadTextFile, ReadsFilesUpToTheLimit) {
  const TempFolder folder;
  const auto file = folder.write("file", "12345");
  EXPECT_EQ(read_text_file(file, 5), "12345");
  EXPECT_EQ(read_text_file(folder.write("empty", ""), 0), "");
  EXPECT_EQ(message_of<FileError>([&] { read_text_file(file, 4); }), file.string() + ": 5 bytes, expected at most 4");
}

// Two functions open files. Both refuse the same.
TEST(OpeningFiles, RefusesWhatIsNoFileByItsName) {
  const TempFolder folder;
  folder.write("file", "");
  std::filesystem::create_symlink("none", folder / "link");
  std::filesystem::create_symlink("loop", folder / "loop");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);  // to open it would wait for a writer
  const std::pair<std::filesystem::path, const char*> kCases[] = {
      {folder / "none", ": No such file or directory"},
      {folder / "link", ": a symlink to 'none', which does not exist: was the download interrupted?"},
      {folder / "file" / "x", ": Not a directory"},
      {folder.path(), ": not a regular file"},
      {folder / "pipe", ": not a regular file"},
      {"/dev/zero", ": not a regular file"}};
  const std::function<void(const std::filesystem::path&)> kFunctions[] = {
      [](const auto& path) { MappedFile::open(path); }, [](const auto& path) { read_text_file(path, 100); }};
  for (const auto& open : kFunctions) {
    const auto error_of = [&](const std::filesystem::path& path) { return message_of<FileError>([&] { open(path); }); };
    for (const auto& [path, message] : kCases) EXPECT_EQ(error_of(path), path.string() + message);
    EXPECT_THAT(error_of(folder / "loop"), testing::StartsWith((folder / "loop").string() + ": "));
    const std::string file = folder / "file";
    EXPECT_EQ(error_of(file + std::string("\0.json", 6)), file + ": path contains a NUL byte");
  }
}

}  // namespace
}  // namespace encdec

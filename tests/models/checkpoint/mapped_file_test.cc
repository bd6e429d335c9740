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
  const std::string content("a\0b\n\xff", 5);
  EXPECT_EQ(text_of(*MappedFile::open(folder.write("file", content))), content);
}

TEST(MappedFile, MayBeEmpty) {
  const TempFolder folder;
  EXPECT_TRUE(MappedFile::open(folder.write("file", ""))->bytes().empty());
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
            path.string() + ": has become shorter while it was read, expected 10000 bytes as before");
}

TEST(ReadTextFile, ReadsFilesUpToTheLimit) {
  const TempFolder folder;
  const auto file = folder.write("file", "12345");
  EXPECT_EQ(read_text_file(file, 5), "12345");
  EXPECT_EQ(read_text_file(folder.write("empty", ""), 0), "");
  try {
    read_text_file(file, 4);
    FAIL() << "5 bytes were read";
  } catch (const FileError& error) {
    EXPECT_EQ(error.what(), file.string() + ": 5 bytes, expected at most 4");
  }
}

// One of the two functions that open files. Both must refuse the same files.
struct Opener {
  std::string name;
  std::function<void(const std::filesystem::path&)> open;

  friend void PrintTo(const Opener& opener, std::ostream* stream) { *stream << opener.name; }
};

class OpeningFiles : public testing::TestWithParam<Opener> {
 protected:
  std::string error_of(const std::filesystem::path& path) const {
    return message_of<FileError>([&] { GetParam().open(path); });
  }
  const TempFolder folder_;
};

TEST_P(OpeningFiles, NamesAMissingFile) {
  EXPECT_EQ(error_of(folder_ / "none"), (folder_ / "none").string() + ": No such file or directory");
  std::filesystem::create_symlink("none", folder_ / "link");
  EXPECT_EQ(error_of(folder_ / "link"),
            (folder_ / "link").string() + ": a link to 'none', which is not there: was the download cut off?");
}

TEST_P(OpeningFiles, RefusesAFileUsedAsAFolder) {
  const auto inside = folder_.write("file", "") / "x";
  EXPECT_EQ(error_of(inside), inside.string() + ": Not a directory");
}

TEST_P(OpeningFiles, RefusesFolders) {
  EXPECT_EQ(error_of(folder_.path()), folder_.path().string() + ": not a regular file");
}

TEST_P(OpeningFiles, RefusesNamedPipesWithoutWaitingForAWriter) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_of(folder_ / "pipe"), (folder_ / "pipe").string() + ": not a regular file");
}

TEST_P(OpeningFiles, RefusesDevices) {
  EXPECT_EQ(error_of("/dev/zero"), "/dev/zero: not a regular file");
}

TEST_P(OpeningFiles, RefusesALoopOfLinks) {
  std::filesystem::create_symlink("loop", folder_ / "loop");
  EXPECT_THAT(error_of(folder_ / "loop"), testing::StartsWith((folder_ / "loop").string() + ": "));
}

TEST_P(OpeningFiles, RefusesAZeroByteInThePath) {
  const std::string file = folder_.write("file", "");
  EXPECT_EQ(error_of(file + std::string("\0.json", 6)), file + ": a path with a zero byte");
}

INSTANTIATE_TEST_SUITE_P(Both, OpeningFiles,
                         testing::Values(Opener{"mapped", [](const auto& path) { MappedFile::open(path); }},
                                         Opener{"text", [](const auto& path) { read_text_file(path, 100); }}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace encdec

#include "encdec/models/checkpoint/new_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using std::filesystem::exists;

std::string content(const std::filesystem::path& path) {
  return read_text_file(path, 100);
}

TEST(NewFile, HasItsNameOnlyWhenItIsComplete) {
  const TempFolder folder;
  for (const auto kind : {NewFile::Kind::output, NewFile::Kind::cache}) {
    const auto path = folder.write("file", "old");
    NewFile file(path, kind, "file");
    file.resize(6);
    file.write("ab");
    file.write_at(4, std::as_bytes(std::span("z", 1)));
    file.write("c");
    EXPECT_EQ(content(path), "old");
    file.commit();
    EXPECT_EQ(content(path), std::string("abc\0z\0", 6));
    EXPECT_FALSE(exists(file.partial()));
  }
}

TEST(NewFile, IsRemovedUnlessItIsCommittedOrKept) {
  const TempFolder folder;
  const auto path = folder / "file";
  NewFile(path, NewFile::Kind::output, "file").write("a");
  NewFile(path, NewFile::Kind::output, "file").keep();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  std::filesystem::path partial;
  {
    NewFile file(path, NewFile::Kind::output, "file");
    file.keep();
    file.write("a");
    partial = file.partial();
  }
  EXPECT_FALSE(exists(path));
  EXPECT_EQ(content(partial), "a");
}

TEST(NewFile, OfTwoWritersTheLastToCommitWins) {
  const TempFolder folder;
  for (const auto kind : {NewFile::Kind::output, NewFile::Kind::cache}) {
    NewFile one(folder / "file", kind, "file"), other(folder / "file", kind, "file");
    for (int i = 0; i < 3; ++i) {
      one.write("one");
      other.write("other");
    }
    other.commit();
    EXPECT_EQ(content(folder / "file"), "otherotherother");
    one.commit();
    EXPECT_EQ(content(folder / "file"), "oneoneone");
  }
}

TEST(NewFile, AnOutputFollowsALinkAndACacheReplacesIt) {
  const TempFolder folder;
  folder.write("file", "old");
  for (const auto kind : {NewFile::Kind::output, NewFile::Kind::cache}) {
    std::filesystem::create_symlink("file", folder / "link");
    NewFile file(folder / "link", kind, "file");
    file.write("new");
    file.commit();
    EXPECT_EQ(std::filesystem::is_symlink(folder / "link"), kind == NewFile::Kind::output);
    EXPECT_EQ(content(folder / "link"), "new");
    std::filesystem::remove(folder / "link");
  }
  EXPECT_EQ(content(folder / "file"), "new");
}

TEST(NewFile, ReplacesNoDeviceAndNoFolder) {
  const TempFolder folder;
  for (const char* path : {"/dev/null", folder.path().c_str()}) {
    EXPECT_THROW(NewFile(path, NewFile::Kind::output, "file"), FileError) << path;
  }
}

TEST(NewFile, LongNamesFit) {
  const TempFolder folder;
  std::string name;
  while (name.size() < 255) name += "\u00e9";
  for (const std::string& file_name : {std::string(255, 'a'), name.substr(0, 254)}) {
    NewFile file(folder / file_name, NewFile::Kind::output, "file");
    file.write("a");
    const std::string partial = file.partial().filename();
    EXPECT_LE(partial.size(), 255u);
    EXPECT_NO_THROW(nlohmann::json(partial).dump()) << "cut within a character: " << partial;
    file.commit();
    EXPECT_EQ(content(folder / file_name), "a");
  }
}

TEST(NewFile, ErrorsNameTheFileAsItIsDisplayed) {
  const TempFolder folder;
  const auto path = folder / "nowhere" / "file";
  for (const auto kind : {NewFile::Kind::output, NewFile::Kind::cache}) {
    EXPECT_EQ(message_of<FileError>([&] { NewFile(path, kind, "shown"); }),
              "shown: cannot open for writing: No such file or directory");
  }
}

}  // namespace
}  // namespace encdec

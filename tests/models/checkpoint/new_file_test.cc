#include "encdec/models/checkpoint/new_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "encdec/engine/base/error.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using std::filesystem::exists;

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator(file), {}};
}

TEST(NewFile, HasItsNameOnlyWhenItIsWhole) {
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

TEST(NewFile, GoesAwayWithoutItsNameUnlessItIsKept) {
  const TempFolder folder;
  const auto path = folder / "file", partial = folder / "file.partial";
  NewFile(path, NewFile::Kind::output, "file").write("a");
  EXPECT_FALSE(exists(path) || exists(partial));
  NewFile(path, NewFile::Kind::output, "file").keep();
  EXPECT_FALSE(exists(path) || exists(partial));
  {
    NewFile file(path, NewFile::Kind::output, "file");
    file.keep();
    file.write("a");
  }
  EXPECT_FALSE(exists(path));
  EXPECT_EQ(content(partial), "a");
}

TEST(NewFile, CachesDoNotShareAName) {
  const TempFolder folder;
  const NewFile one(folder / "file", NewFile::Kind::cache, "file");
  const NewFile other(folder / "file", NewFile::Kind::cache, "file");
  EXPECT_NE(one.partial(), other.partial());
}

TEST(NewFile, FailuresNameTheFileAsItIsShown) {
  const TempFolder folder;
  const auto path = folder / "nowhere" / "file";
  const auto message = [&](NewFile::Kind kind) -> std::string {
    try {
      NewFile(path, kind, "shown");
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(NewFile::Kind::output), "shown: cannot open for writing: No such file or directory");
  EXPECT_EQ(message(NewFile::Kind::cache), "shown: cannot write: No such file or directory");
}

}  // namespace
}  // namespace encdec

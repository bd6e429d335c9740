#include "serve/glossaries.h"

#include <encdec/engine/base/error.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "serve/http/message.h"
#include "tests/tools/files.h"

namespace encdec::serve {
namespace {

int error_status_of(const std::function<void()>& call) {
  try {
    call();
    return 0;
  } catch (const HttpError& error) {
    return error.status();
  } catch (const InputError&) {
    return 400;
  }
}

StoredGlossary glossary_of(const std::string& owner, const std::string& entries = "cell\tZelle\n") {
  return {.id = "",
          .name = "name",
          .owner = owner,
          .dictionaries = {{.source = "en", .target = "de", .terms = read_entries(entries, "tsv")}}};
}

TEST(Glossaries, BelongToTheirOwner) {
  Glossaries glossaries("");
  const std::string id = glossaries.add(glossary_of("first"))->id;
  EXPECT_EQ(glossaries.list("first").size(), 1u);
  EXPECT_TRUE(glossaries.list("second").empty());
  const auto change = [](StoredGlossary& glossary) { glossary.name = "new"; };
  EXPECT_EQ(error_status_of([&] { glossaries.find("second", id); }), 404);
  EXPECT_EQ(error_status_of([&] { glossaries.change("second", id, change); }), 404);
  EXPECT_EQ(error_status_of([&] { glossaries.remove("second", id); }), 404);
  EXPECT_EQ(glossaries.change("first", id, change)->name, "new");
  glossaries.remove("first", id);
  EXPECT_EQ(error_status_of([&] { glossaries.find("first", id); }), 404);
}

TEST(Glossaries, SurviveARestartExceptDamagedFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.path("glossaries");
  std::string kept, cut, renamed;
  {
    Glossaries glossaries(path);
    kept = glossaries.add(glossary_of("owner", "# one\tb\n\xC3\xA4\tc\n"))->id;
    cut = glossaries.add(glossary_of("owner"))->id;
    renamed = glossaries.add(glossary_of("owner"))->id;
    glossaries.remove("owner", glossaries.add(glossary_of("owner"))->id);
  }
  std::filesystem::resize_file(path + "/" + cut + ".json", 50);
  std::filesystem::rename(path + "/" + renamed + ".json", path + "/other.json");
  folder.write("glossaries/list.json", "[1]");
  folder.write("glossaries/types.json", R"({"id":"types","name":1,"owner":"owner","created_ms":0,"dictionaries":[]})");
  folder.write("glossaries/terms.json",
               R"({"id":"terms","name":"","owner":"owner","created_ms":0,"dictionaries":[{"source":"en","target":"de",)"
               R"("terms":{"a\tb":"c"}}]})");
  folder.write("glossaries/" + kept + ".json.012345.partial", "{");
  Glossaries glossaries(path);
  ASSERT_EQ(glossaries.list("owner").size(), 1u);
  const StoredGlossary& found = *glossaries.list("owner").front();
  EXPECT_EQ(found.id, kept);
  EXPECT_EQ(write_entries(*found.find("en", "de")->terms), "# one\tb\n\xC3\xA4\tc\n");
  EXPECT_TRUE(folder.has("glossaries/" + cut + ".json"));
}

TEST(Glossaries, RefuseAFolderThatIsAFile) {
  const TemporaryFolder folder;
  EXPECT_THROW(Glossaries(folder.write("file", "")), FileError);
}

TEST(Glossaries, HaveALimit) {
  Glossaries glossaries("");
  for (int i = 0; i < 1000; ++i) glossaries.add(glossary_of("first"));
  EXPECT_EQ(error_status_of([&] { glossaries.add(glossary_of("first")); }), 456);
  EXPECT_EQ(error_status_of([&] { glossaries.add(glossary_of("second")); }), 0);
}

TEST(Glossaries, EntriesAreRead) {
  EXPECT_EQ(write_entries(*read_entries(" a \tb \r\n\nc\td", "tsv")), "a\tb\nc\td\n");
  EXPECT_EQ(write_entries(*read_entries("\"a, b\",\"c \"\"d\"\"\",en,de\n", "csv")), "a, b\tc \"d\"\n");
  const std::string longest(1024, 'x');
  EXPECT_EQ(read_entries(longest + "\ty", "tsv")->terms().size(), 1u);
  using Case = std::pair<std::string, std::string>;
  for (const Case& refused : std::vector<Case>{{"", "tsv"},
                                               {"a", "tsv"},
                                               {"a\t", "tsv"},
                                               {"a\tb\tc", "tsv"},
                                               {"a\tb\na\tb", "tsv"},
                                               {"a\t\x01", "tsv"},
                                               {"a\t\xFF", "tsv"},
                                               {longest + "x\ty", "tsv"},
                                               {"a\n", "csv"},
                                               {"a,b\na,b", "csv"},
                                               {"a\tb", "xml"}}) {
    EXPECT_EQ(error_status_of([&] { read_entries(refused.first, refused.second); }), 400) << refused.first.substr(0, 9);
  }
  EXPECT_EQ(error_status_of([] { read_entries(std::string((std::size_t{10} << 20) + 1, 'x'), "tsv"); }), 413);
}

}  // namespace
}  // namespace encdec::serve

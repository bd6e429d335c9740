#include "encdec/translation/translate_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"
#include "tools/translation/tests/student_models.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("stopped") {}
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TranslateFileTest : public testing::Test {
 protected:
  void translate(const TranslateFileOptions& options, nlohmann::ordered_json* report = nullptr) const {
    translate_file(source_, target_, student_models().all, student_models().routes, options, report);
  }
  // Stops a translation after its first segments. Returns how many these are.
  std::size_t stop(TranslateFileOptions options) const {
    std::size_t segments = 0;
    options.on_progress = [&](std::size_t done, std::size_t /*total*/) {
      segments = done;
      throw Stopped();
    };
    EXPECT_THROW(translate(options), Stopped);
    EXPECT_FALSE(fs::exists(target_));
    EXPECT_TRUE(fs::exists(progress_));
    return segments;
  }
  // Returns the numbers of finished segments that a translation reports.
  std::vector<std::size_t> finish(TranslateFileOptions options) const {
    std::vector<std::size_t> steps;
    options.on_progress = [&](std::size_t done, std::size_t /*total*/) { steps.push_back(done); };
    translate(options);
    EXPECT_FALSE(fs::exists(progress_));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 2);
    return steps;
  }

  TempFolder folder_;
  fs::path source_ = folder_.write("a.po", catalogue(300)), target_ = folder_ / "a.de.po",
           progress_ = folder_ / "a.de.po.progress";

 private:
  static std::string catalogue(int entries) {
    std::string text = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n";
    for (int i = 0; i < entries; ++i) {
      const std::string number = std::to_string(i);
      text +=
          "\n#: a.c:" + number + "\nmsgid \"bjkf hl " + number + ".\"\nmsgstr \"" + (i % 3 == 0 ? "done" : "") + "\"\n";
    }
    return text;
  }
};

const TranslateFileOptions kGerman{.translate = {.target = "de"}};

TEST_F(TranslateFileTest, WritesTheFileAndTheReport) {
  nlohmann::ordered_json report;
  translate(kGerman, &report);
  EXPECT_EQ(report.size(), 200u);
  EXPECT_EQ(report[0]["target"], "hglcf lmldk 1.");
  EXPECT_THAT(content_of(target_), HasSubstr("msgid \"bjkf hl 299.\"\nmsgstr \"hglcf lmldk 299.\"\n"));
  EXPECT_THAT(content_of(target_), HasSubstr("#, fuzzy\nmsgid \"bjkf hl 1.\""));
}

TEST_F(TranslateFileTest, GoesOnAfterAStop) {
  TranslateFileOptions options = kGerman;
  options.document.entries = CatalogueEntries::all;
  translate(options);
  const std::string fresh = content_of(target_);
  fs::remove(target_);
  EXPECT_EQ(stop(options), 256u);
  EXPECT_THAT(finish(options), ElementsAre(300u));
  EXPECT_EQ(content_of(target_), fresh);
}

TEST_F(TranslateFileTest, CanStopAfterTheLastSegment) {
  EXPECT_EQ(stop(kGerman), 200u);
  EXPECT_THAT(finish(kGerman), ElementsAre());
  EXPECT_THAT(content_of(target_), HasSubstr("hglcf lmldk 299."));
}

TEST_F(TranslateFileTest, StartsAgainWithOtherOptions) {
  std::vector<TranslateFileOptions> others(6, kGerman);
  others[0].translate.target = "fr";
  others[1].translate.generate.num_beams = 2;
  others[2].translate.split = Split::never;
  auto glossary = std::make_shared<Glossary>();
  glossary->add("hl", "lmldk");
  others[3].translate.glossary = glossary;
  others[4].document.entries = CatalogueEntries::fuzzy;
  others[5].document.target_language = "de";
  for (const TranslateFileOptions& other : others) {
    stop(kGerman);
    EXPECT_THAT(finish(other), ElementsAre(200u));
    fs::remove(target_);
  }
}

TEST_F(TranslateFileTest, OptionsOfLinesDoNotMatter) {
  stop(kGerman);
  TranslateFileOptions other = kGerman;
  other.document.line_width = 20;
  other.document.mark_fuzzy = false;
  other.translate.generate.batch_size = 3;
  EXPECT_THAT(finish(other), ElementsAre());
  EXPECT_THAT(content_of(target_), testing::Not(HasSubstr("fuzzy")));
}

TEST_F(TranslateFileTest, AProgressFileOfAnotherVersionIsReplaced) {
  stop(kGerman);
  std::string saved = content_of(progress_);
  ASSERT_TRUE(saved.starts_with("encdec progress 3 "));
  folder_.write("a.de.po.progress", saved.replace(16, 1, "1"));
  EXPECT_THAT(finish(kGerman), ElementsAre(200u));
}

TEST_F(TranslateFileTest, AnotherFileOfItsNameIsRefusedAndStays) {
  for (const char* content : {"x", "\n\n\n", "my notes\nencdec progress 3 \n"}) {
    folder_.write("a.de.po.progress", content);
    EXPECT_THAT(
        message_of([&] { translate(kGerman); }),
        HasSubstr("a.de.po.progress: not the progress of a translation, expected that or no file of this name"));
    EXPECT_EQ(content_of(progress_), content);
    EXPECT_FALSE(fs::exists(target_));
  }
}

TEST_F(TranslateFileTest, ALinkOrAPipeOfItsNameIsRefusedAndStays) {
  const fs::path other = folder_.write("other", "encdec progress 3 ");
  fs::create_symlink(other, progress_);
  EXPECT_THROW(translate(kGerman), FileError);
  EXPECT_EQ(content_of(other), "encdec progress 3 ");
  fs::remove(progress_);
  fs::create_symlink(folder_ / "new", progress_);
  EXPECT_THROW(translate(kGerman), FileError);
  EXPECT_FALSE(fs::exists(folder_ / "new"));
  fs::remove(progress_);
  ASSERT_EQ(::mkfifo(progress_.c_str(), 0600), 0);
  EXPECT_THROW(translate(kGerman), FileError);
  EXPECT_TRUE(fs::is_fifo(progress_));
}

TEST_F(TranslateFileTest, ItsOutputIsNotItsSource) {
  const std::string before = content_of(source_);
  fs::create_symlink(source_, folder_ / "link.po");
  fs::create_hard_link(source_, folder_ / "hard.po");
  for (const fs::path& target : {source_, folder_ / "." / "a.po", folder_ / "link.po", folder_ / "hard.po"}) {
    EXPECT_THAT(
        message_of([&] { translate_file(source_, target, student_models().all, student_models().routes, kGerman); }),
        HasSubstr("a.po: the translation would replace it, expected another output"));
    EXPECT_EQ(content_of(source_), before);
  }
}

TEST_F(TranslateFileTest, AnOldProgressFileIsReplaced) {
  for (const char* content : {"", "encdec progress 3 0\n", "encdec progress 3"}) {
    folder_.write("a.de.po.progress", content);
    EXPECT_THAT(finish(kGerman), ElementsAre(200u));
    fs::remove(target_);
  }
}

TEST_F(TranslateFileTest, RefusesWhatItCannotRead) {
  const auto refusal = [&](const std::string& name, const std::string& content) {
    const fs::path file = folder_.write(name, content);
    return message_of(
        [&] { translate_file(file, folder_ / "out", student_models().all, student_models().routes, kGerman); });
  };
  EXPECT_THAT(refusal("a.bin", "hl"), HasSubstr("a.bin: a name without a known extension, expected the format: text"));
  EXPECT_THAT(refusal("b.po", "msgid \"a\nmsgstr \"\"\n"), HasSubstr("b.po: line 1, column 9: "));
  EXPECT_THAT(refusal("c.txt", "a\n\xff\n"), HasSubstr("c.txt: line 2, column 1: "));
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_FALSE(fs::exists(folder_ / "out.progress"));
}

TEST(TranslateDocument, TakesTheFormatOfTheOptionsBeforeThatOfTheName) {
  const StudentModels& models = student_models();
  TranslateFileOptions options = kGerman;
  EXPECT_EQ(translate_document("<b>hl</b>", "a.html", models.all, models.routes, options), "<b>lmldk</b>");
  options.format = DocumentFormat::po;
  EXPECT_EQ(translate_document("msgid \"hl\"\nmsgstr \"\"\n", "a.html", models.all, models.routes, options),
            "#, fuzzy\nmsgid \"hl\"\nmsgstr \"lmldk\"\n");
}

TEST(TranslateDocument, GoesThroughAnotherLanguage) {
  const StudentModels& models = student_models();
  const TranslateFileOptions options{.translate = {.source = "de", .target = "fr"}};
  EXPECT_EQ(translate_document("bjkf hl 70.", "a.txt", models.all, models.routes, options), "bjkf hl 70.");
}

TEST(TranslatedName, HasTheLanguageBeforeTheExtension) {
  EXPECT_EQ(translated_name("b/a.srt", "de"), "a.de.srt");
  EXPECT_EQ(translated_name("README", "pt-BR"), "README.pt-BR");
  EXPECT_EQ(translated_name("a.b.po", "fr"), "a.b.fr.po");
}

}  // namespace
}  // namespace encdec

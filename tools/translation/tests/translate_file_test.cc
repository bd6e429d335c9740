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
#include "encdec/translation/document_job.h"
#include "tests/support/message_of.h"
#include "tests/support/students.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// Student models en-de, de-en and en-fr, which replace each word by its partner.
struct StudentModels {
  StudentModels() {
    for (const auto& [source, target] : {std::pair("en", "de"), std::pair("de", "en"), std::pair("en", "fr")}) {
      const std::filesystem::path model = write_student(folder.path(), source, target);
      all.push_back(Model::load(model, {.threads = 1}));
      routes.add(ModelLanguages::of(all.back(), model.string()));
    }
  }

  TempFolder folder;  // the models read their files again for their fingerprints
  std::vector<Model> all = {};
  TranslationRoutes routes = {};
};

const StudentModels& student_models() {
  static const StudentModels models;
  return models;
}

DocumentJob job_for(const std::string& bytes, DocumentFormat format, TranslateOptions options = {.target = "de"}) {
  const StudentModels& models = student_models();
  return {Document::parse(bytes, format, "file"), models.all, models.routes, std::move(options)};
}

// Translates the remaining segments. Returns the results of take().
std::vector<std::string> run(DocumentJob& job) {
  std::vector<std::string> saved;
  while (TranslationJob* next = job.next()) saved.push_back(job.take(translate(student_models().all, *next)));
  return saved;
}

TEST(DocumentJob, ADocumentWithoutTextsNeedsNoModel) {
  DocumentJob job = job_for("\n\n", DocumentFormat::text);
  EXPECT_EQ(job.size(), 0u);
  EXPECT_EQ(job.next(), nullptr);
  EXPECT_EQ(job.write().bytes, "\n\n");
  EXPECT_EQ(job.report(job.write()), nlohmann::ordered_json::array());
}

TEST(DocumentJob, CodesPlaceholdersAndCutsAreSaved) {
  const std::string html = "<p>bjkf <b>hl</b> <br> <a href='x'>cmc</a></p>";
  const std::string subtitles =
      "1\n00:00:01,000 --> 00:00:02,000\nbjkf hl\n\n2\n00:00:02,100 --> 00:00:04,000\ncmc ffjmk.\n";
  for (const auto& [bytes, format] :
       {std::pair(html, DocumentFormat::html), std::pair(subtitles, DocumentFormat::srt),
        std::pair(std::string("msgid \"bjkf {0} %s\"\nmsgstr \"\"\n"), DocumentFormat::po)}) {
    DocumentJob whole = job_for(bytes, format), restored = job_for(bytes, format);
    for (const std::string& saved : run(whole)) EXPECT_TRUE(restored.restore(saved));
    EXPECT_EQ(restored.write().bytes, whole.write().bytes);
    EXPECT_EQ(restored.next(), nullptr);
  }
}

TEST(DocumentJob, WhatDoesNotFitIsNotTaken) {
  DocumentJob whole = job_for("bjkf\n\nhl\n\nji\n", DocumentFormat::text);
  const std::string saved = run(whole).front();
  DocumentJob job = job_for("bjkf\n\nhl\n", DocumentFormat::text);
  for (const std::string& damaged :
       {saved, saved.substr(0, saved.size() / 2), std::string("[]"), std::string("{}"), std::string("3"),
        std::string("[3]"), std::string("[{}]"), std::string("\xff"), std::string(R"([{"segment": {"text": "a"}}])"),
        std::string(R"([{"segment": {"text": "a", "codes": [], "placeholders": [], "cuts": []},
                        "terms": [{"source": "a", "target": "b", "method": "?"}]}])")}) {
    EXPECT_FALSE(job.restore(damaged)) << damaged;
  }
  EXPECT_EQ(job.done(), 0u);
  // Positions outside the text do no harm.
  ASSERT_TRUE(job.restore(R"([{"segment": {"text": "ab", "codes": [[900, "<b>", 7]], "placeholders": [[5, 3, null]],
                               "cuts": [[77, 0.5]]}, "terms": []}])"));
  run(job);
  EXPECT_EQ(job.write().bytes, "bjkf\n\nlmldk\n");
}

TEST(DocumentJob, DetectsTheLanguageInTheWholeDocument) {
  const std::string text =
      "OK\n\nDas ist ein Satz in deutscher Sprache, der lang genug ist.\n\nUnd noch ein anderer Satz.\n";
  EXPECT_EQ(job_for(text, DocumentFormat::text, {.target = "fr"}).source(), "de");
  EXPECT_THROW(job_for(text, DocumentFormat::text, {.target = "it"}), InputError);
}

TEST(DocumentJob, ReportsProblemsOfTranslations) {
  DocumentJob job = job_for("msgid \"bjkf %s\"\nmsgstr \"\"\n\nmsgid \"hl\"\nmsgstr \"\"\n", DocumentFormat::po);
  ASSERT_TRUE(job.restore(R"([
    {"segment": {"text": "without", "codes": [], "placeholders": [], "cuts": []}, "terms": []},
    {"segment": {"text": "lmldk", "codes": [], "placeholders": [], "cuts": []}, "problem": "its end is missing",
     "terms": [{"source": "hl", "target": "x", "method": "failed"}]}])"));
  const WrittenDocument written = job.write();
  EXPECT_EQ(written.bytes, "msgid \"bjkf %s\"\nmsgstr \"\"\n\n#, fuzzy\nmsgid \"hl\"\nmsgstr \"lmldk\"\n");
  EXPECT_EQ(job.report(written).dump(), R"([{"where":"line 1","source":"bjkf %s","target":"without",)"
                                        R"("problem":"placeholder '%s' is missing"},)"
                                        R"({"where":"line 4","source":"hl","target":"lmldk",)"
                                        R"("terms":[{"source":"hl","target":"x","method":"failed"}],)"
                                        R"("problem":"its end is missing"}])");
}

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
  // Stops a translation after its first segments. Returns their number.
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
  // Translates the file. Returns the reported numbers of finished segments.
  std::vector<std::size_t> finish(TranslateFileOptions options, nlohmann::ordered_json* report = nullptr) const {
    std::vector<std::size_t> steps;
    options.on_progress = [&](std::size_t done, std::size_t /*total*/) { steps.push_back(done); };
    fs::remove(target_);
    translate(options, report);
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
  auto glossary = std::make_shared<Glossary>();
  glossary->add("hl", "lmldk");
  options.translate.glossary = glossary;
  nlohmann::ordered_json fresh_report, report;
  translate(options, &fresh_report);
  const std::string fresh = content_of(target_);
  fs::remove(target_);
  EXPECT_EQ(stop(options), 256u);
  EXPECT_THAT(finish(options, &report), ElementsAre(300u));
  EXPECT_EQ(content_of(target_), fresh);
  EXPECT_EQ(report, fresh_report);
}

TEST_F(TranslateFileTest, OptionsOfLinesDoNotMatterAfterAStop) {
  EXPECT_EQ(stop(kGerman), 200u);  // all segments
  TranslateFileOptions other = kGerman;
  other.document.line_width = 20;
  other.document.mark_fuzzy = false;
  other.translate.generate.batch_size = 3;
  EXPECT_THAT(finish(other), ElementsAre());
  EXPECT_THAT(content_of(target_), testing::AllOf(HasSubstr("hglcf lmldk 299."), testing::Not(HasSubstr("fuzzy"))));
}

TEST_F(TranslateFileTest, StartsAgainWithOtherOptionsOrAnotherFile) {
  std::vector<TranslateFileOptions> others(7, kGerman);
  others[0].translate.target = "fr";
  others[1].translate.generate.num_beams = 2;
  others[2].translate.split = Split::never;
  auto glossary = std::make_shared<Glossary>();
  glossary->add("hl", "lmldk");
  others[3].translate.glossary = glossary;
  others[4].document.entries = CatalogueEntries::fuzzy;
  others[5].document.target_language = "de";
  for (const TranslateFileOptions& other : others) {
    fs::remove(target_);
    stop(kGerman);
    if (&other == &others[6]) folder_.write("a.po", content_of(source_) + "\n");
    EXPECT_THAT(finish(other), ElementsAre(200u));
  }
}

TEST_F(TranslateFileTest, AProgressFileOfAnotherVersionOrWithDamageIsReplaced) {
  stop(kGerman);
  const std::string saved = content_of(progress_), version = "encdec progress 3";
  ASSERT_TRUE(saved.starts_with(version + " "));
  for (const std::string& content : {std::string(), version, "encdec progress 1" + saved.substr(version.size()),
                                     saved.substr(0, 20), saved.substr(0, saved.size() / 2)}) {
    folder_.write("a.de.po.progress", content);
    EXPECT_THAT(finish(kGerman), ElementsAre(200u));
  }
}

TEST_F(TranslateFileTest, AnotherFileOfItsNameIsRefusedAndStays) {
  for (const char* content : {"x", "\n\n\n", "my notes\nencdec progress 3 \n"}) {
    folder_.write("a.de.po.progress", content);
    EXPECT_THAT(message_of([&] { translate(kGerman); }),
                HasSubstr("a.de.po.progress: not a translation's progress file, expected one or no file of this name"));
    EXPECT_EQ(content_of(progress_), content);
    EXPECT_FALSE(fs::exists(target_));
  }
  // A symlink and a pipe are errors, too.
  const fs::path other = folder_.write("other", "encdec progress 3 ");
  for (const fs::path& linked : {other, folder_ / "new"}) {
    fs::remove(progress_);
    fs::create_symlink(linked, progress_);
    EXPECT_THROW(translate(kGerman), FileError);
  }
  EXPECT_EQ(content_of(other), "encdec progress 3 ");
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
    target_ = target;
    EXPECT_THAT(message_of([&] { translate(kGerman); }),
                HasSubstr("a.po: the translation would replace it, expected another output"));
    EXPECT_EQ(content_of(source_), before);
  }
}

TEST(TranslateDocument, TakesTheFormatOfTheOptionsBeforeThatOfTheName) {
  const auto translated = [](const char* bytes, const TranslateFileOptions& options) {
    return translate_document(bytes, "a.html", student_models().all, student_models().routes, options);
  };
  EXPECT_EQ(translated("<b>hl</b>", kGerman), "<b>lmldk</b>");
  EXPECT_EQ(translated("msgid \"hl\"\nmsgstr \"\"\n", {.translate = kGerman.translate, .format = DocumentFormat::po}),
            "#, fuzzy\nmsgid \"hl\"\nmsgstr \"lmldk\"\n");
  EXPECT_EQ(translated("bjkf hl", {.translate = {.source = "de", .target = "fr"}}), "bjkf hl");  // through English
}

TEST(TranslatedName, HasTheLanguageBeforeTheExtension) {
  EXPECT_EQ(translated_name("b/a.srt", "de"), "a.de.srt");
  EXPECT_EQ(translated_name("README", "pt-BR"), "README.pt-BR");
  EXPECT_EQ(translated_name("a.b.po", "fr"), "a.b.fr.po");
}

}  // namespace
}  // namespace encdec

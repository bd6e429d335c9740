#include "encdec/translation/document_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "encdec/engine/base/error.h"
#include "tools/translation/tests/student_models.h"

namespace encdec {
namespace {

using testing::HasSubstr;

DocumentJob job_for(const std::string& bytes, DocumentFormat format, TranslateOptions options = {.target = "de"}) {
  const StudentModels& models = student_models();
  return {Document::parse(bytes, format, "file"), models.all, models.routes, std::move(options)};
}

// Translates what is left. Returns what take() returned.
std::vector<std::string> run(DocumentJob& job) {
  std::vector<std::string> saved;
  while (TranslationJob* next = job.next()) saved.push_back(job.take(translate(student_models().all, *next)));
  return saved;
}

std::string text_of(int segments) {
  std::string text;
  for (int i = 0; i < segments; ++i) text += "bjkf hl " + std::to_string(i) + ".\n\n";
  return text;
}

TEST(DocumentJob, TranslatesTheSegmentsOfADocument) {
  DocumentJob job = job_for("<p>bjkf <b>hl</b> 70.</p>\n<p>%s</p>", DocumentFormat::html);
  EXPECT_EQ(job.source(), "en");
  EXPECT_EQ(job.done(), 0u);
  run(job);
  EXPECT_EQ(job.done(), job.size());
  EXPECT_EQ(job.next(), nullptr);
  EXPECT_THAT(job.write().bytes, HasSubstr("<p>hglcf <b>lmldk</b> 70.</p>"));
}

TEST(DocumentJob, ADocumentWithoutTextsNeedsNoModel) {
  DocumentJob job = job_for("\n\n", DocumentFormat::text);
  EXPECT_EQ(job.size(), 0u);
  EXPECT_EQ(job.next(), nullptr);
  EXPECT_EQ(job.write().bytes, "\n\n");
  EXPECT_EQ(job.report(job.write()), nlohmann::ordered_json::array());
}

TEST(DocumentJob, GoesOnFromWhatAnEqualJobHasSaved) {
  constexpr int kSegments = 300;
  auto glossary = std::make_shared<Glossary>();
  glossary->add("hl", "lmldk");
  const TranslateOptions options{.target = "de", .glossary = glossary};
  DocumentJob whole = job_for(text_of(kSegments), DocumentFormat::text, options);
  const std::vector<std::string> saved = run(whole);
  ASSERT_GT(saved.size(), 1u);
  DocumentJob rest = job_for(text_of(kSegments), DocumentFormat::text, options);
  EXPECT_TRUE(rest.restore(saved[0]));
  EXPECT_GT(rest.done(), 0u);
  EXPECT_EQ(run(rest), std::vector(saved.begin() + 1, saved.end()));
  EXPECT_EQ(rest.write().bytes, whole.write().bytes);
  EXPECT_EQ(rest.report(rest.write()), whole.report(whole.write()));
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
  DocumentJob whole = job_for(text_of(3), DocumentFormat::text);
  const std::string saved = run(whole).front();
  DocumentJob job = job_for(text_of(2), DocumentFormat::text);
  EXPECT_FALSE(job.restore(saved));
  for (const char* damaged : {"", "[]", "{}", "3", "[3]", "[{}]", "\xff", R"([{"segment": {"text": "a"}}])",
                              R"([{"segment": {"text": "a", "codes": [], "placeholders": [], "cuts": []},
                                   "terms": [{"source": "a", "target": "b", "method": "?"}]}])"}) {
    EXPECT_FALSE(job.restore(damaged)) << damaged;
  }
  EXPECT_FALSE(job.restore(saved.substr(0, saved.size() / 2)));
  EXPECT_EQ(job.done(), 0u);
  run(job);
  EXPECT_EQ(job.write().bytes, "hglcf lmldk 0.\n\nhglcf lmldk 1.\n\n");
}

TEST(DocumentJob, SavedPlacesOutsideTheTextDoNoHarm) {
  DocumentJob job = job_for("bjkf\n", DocumentFormat::text);
  ASSERT_TRUE(job.restore(R"([{"segment": {"text": "ab", "codes": [[900, "<b>", 7]], "placeholders": [[5, 3, null]],
                               "cuts": [[77, 0.5]]}, "terms": []}])"));
  job.write();
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
  const auto report = job.report(written);
  EXPECT_EQ(report.dump(), R"([{"where":"line 1","source":"bjkf %s","target":"without",)"
                           R"("problem":"placeholder '%s' is missing"},)"
                           R"({"where":"line 4","source":"hl","target":"lmldk",)"
                           R"("terms":[{"source":"hl","target":"x","method":"failed"}],)"
                           R"("problem":"its end is missing"}])");
}

}  // namespace
}  // namespace encdec

// Tests encdec translate with a student model that swaps each word and its partner, so that
// translating twice gives the text again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/students.h"
#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Arguments = std::vector<std::string>;

class TranslateTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    models_ = new TemporaryFolder;
    for (const char* pair : {"ende", "deen", "enfr"}) {
      const std::string code = pair;
      write_student(models_->path(""), code.substr(0, 2), code.substr(2));
    }
  }
  static void TearDownTestSuite() { delete models_; }

  static std::string model(std::string_view name) { return models_->path(name); }
  static Arguments command(const Arguments& options, const Arguments& models = {"en_de"}) {
    Arguments arguments = {"translate", "--threads", "1"};
    for (const std::string& name : models) arguments.insert(arguments.end(), {"--model", model(name)});
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
  }
  static Finished translate(const Arguments& options, const Arguments& models = {"en_de"}, std::string input = {}) {
    return encdec_command(command(options, models), std::move(input));
  }
  static std::string output_of(const Arguments& options, const Arguments& models = {"en_de"}, std::string input = {}) {
    const Finished finished = translate(options, models, std::move(input));
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    return finished.output;
  }

  TemporaryFolder folder_;

 private:
  static inline TemporaryFolder* models_ = nullptr;
};

const std::string kSubtitles =
    "\xef\xbb\xbf"
    "1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>bjkf hl</i> 70.\r\n\r\n"
    "7\r\n00:00:03,000 --> 00:00:04,000 X1:10\r\ncmc ffjmk gfh dcid dbdfk.\r\n";

TEST_F(TranslateTest, ReadsStandardInput) {
  EXPECT_EQ(output_of({}, {"en_de"}, "bjkf hl 70. ji efded.\n\njmcla efded hl dbdfk.\n"),
            "hglcf lmldk 70. hjj nsoxö.\n\ncflgi nsoxö lmldk llkm.\n");
  EXPECT_EQ(output_of({"-"}, {"en_de"}, ""), "");
  EXPECT_EQ(output_of({"--format", "html", "-"}, {"en_de"}, "<p>bjkf <b>hl</b></p>"), "<p>hglcf <b>lmldk</b></p>");
}

TEST_F(TranslateTest, LimitsStandardInputAsFiles) {
  EXPECT_TRUE(failed(translate({}, {"en_de"}, std::string((std::size_t{1} << 28) + 1, 'a')), 1,
                     {"standard input: more than 268435456 bytes, expected fewer"}));
}

TEST_F(TranslateTest, SubtitlesThereAndBackAreTheSameBytes) {
  const std::string file = folder_.write("a.srt", kSubtitles), german = folder_.path("a.de.srt");
  EXPECT_EQ(output_of({file, "--output", german}), "");
  EXPECT_THAT(read_file(german), HasSubstr("\r\n<i>hglcf lmldk</i> 70.\r\n"));
  EXPECT_EQ(output_of({german}, {"de_en"}), kSubtitles);
  EXPECT_THAT(folder_.names(), ElementsAre("a.de.srt", "a.srt"));
}

TEST_F(TranslateTest, WritesToDevicesAndThroughLinks) {
  const std::string file = folder_.write("a.txt", "hl"), link = folder_.path("link");
  fs::create_symlink("out.txt", link);
  output_of({file, "--output", link});
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(folder_.read("out.txt"), "lmldk");
  EXPECT_EQ(output_of({file, "--output", "/dev/stdout"}), "lmldk");
  ASSERT_EQ(::mkfifo(folder_.path("pipe").c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = folder_.read("pipe"); });
  output_of({file, "--output", folder_.path("pipe")});
  reader.join();
  EXPECT_EQ(read, "lmldk");
  EXPECT_THAT(folder_.names(), ElementsAre("a.txt", "link", "out.txt", "pipe"));
}

TEST_F(TranslateTest, ListsTheWaysOfItsModelsAndTakesSeveral) {
  EXPECT_EQ(output_of({"--list"}, {"en_de", "de_en", "en_fr"}), "de en\nde en fr\nen de\nen fr\n");
  // A folder among the files is a model.
  const std::string file = folder_.write("a.txt", "hl");
  const Arguments arguments = {"translate", file,   "--model", model("en_fr"), model("de_en"), "--from",
                               "de",        "--to", "fr"};
  EXPECT_EQ(encdec_command(arguments).output, "hl");
}

TEST_F(TranslateTest, AppliesAGlossaryAndDoNotTranslate) {
  const std::string glossary = folder_.write("terms.tsv", "hl\tlmldk\nji\tüß\n");
  const std::string kept = folder_.write("kept.txt", "ffjmk\n"), report = folder_.path("report.json");
  const std::string file = folder_.write("a.txt", "bjkf hl 70.\n\nji efded. ffjmk cmc.\n");
  const std::string text = output_of({file, "--glossary", glossary, "--do-not-translate", kept, "--report", report});
  EXPECT_THAT(text, testing::AllOf(HasSubstr("hglcf lmldk 70.\n\n"), HasSubstr("üß"), HasSubstr("ffjmk")));
  const json found = json::parse(read_file(report)).at(0);
  EXPECT_EQ(found["file"], file);
  EXPECT_EQ(found["output"], "");
  EXPECT_EQ(found["segments"].size(), 2u);
  EXPECT_EQ(found["segments"][0],
            json::parse(R"({"where": "line 1", "source": "bjkf hl 70.", "target": "hglcf lmldk 70.",
      "terms": [{"source": "hl", "target": "lmldk", "method": "present"}]})"));
}

TEST_F(TranslateTest, WarnsOnceOfATranslationThatIsNotUsed) {
  const std::string address = "http://a.b/" + std::string(1900, 'x');
  const std::string file = folder_.write("a.txt", "bjkf " + address + " hl.\n");
  const Finished finished = translate({file});
  EXPECT_EQ(finished.output, folder_.read("a.txt"));
  EXPECT_THAT(finished.errors, HasSubstr("placeholder 'http://a.b/xxx"));
  EXPECT_THAT(finished.errors, Not(HasSubstr("is not in the translation")));
  EXPECT_LT(finished.errors.size(), 400u);
}

TEST_F(TranslateTest, ALimitOfTokensIsOneLineOfARun) {
  const std::string file = folder_.write("a.txt", "cat\n\nhouse\n\ndog\n"), report = folder_.path("r.json"),
                    problem = "the model reached its limit of tokens, so the end of a sentence may be missing";
  const Finished finished = encdec_command({"translate", file, "--model", ENCDEC_GOLDEN_DIR "/marian/text/model",
                                            "--report", report, "--from", "en", "--to", "fr", "--threads", "1"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.errors, "encdec: warning: " + file + ": line 1: " + problem + "; texts like this: 3\n");
  EXPECT_EQ(std::ranges::count(finished.output, '\n'), 5);
  for (const json& segment : json::parse(read_file(report))[0]["segments"]) EXPECT_EQ(segment["problem"], problem);
}

TEST_F(TranslateTest, JavaPropertiesGoThereAndBackThroughTranslateToolkit) {
  constexpr const char *kThere = "/usr/bin/prop2po", *kBack = "/usr/bin/po2prop";
  if (!fs::exists(kThere)) GTEST_SKIP() << "no " << kThere << " (Debian: translate-toolkit)";
  const std::string properties = folder_.write("a.properties", "# hl\na = bjkf %s\nb = cmc\n");
  const std::string catalogue = folder_.path("a.po"), german = folder_.path("de.po"),
                    back = folder_.path("de.properties");
  EXPECT_EQ(run({.arguments = {kThere, "--progress", "none", properties, catalogue}}).status, 0);
  EXPECT_EQ(output_of({catalogue, "--no-fuzzy", "--output", german}), "");
  EXPECT_EQ(run({.arguments = {kBack, "--progress", "none", "-t", properties, german, back}}).status, 0);
  EXPECT_EQ(folder_.read("de.properties"), "# hl\na = hglcf %s\nb = lkjhh\n");
}

TEST_F(TranslateTest, NamesTheTranslationsOfSeveralFiles) {
  const std::string first = folder_.write("a.srt", kSubtitles), second = folder_.write("b.c.txt", "hl");
  const std::string out = folder_.path("out/there");
  EXPECT_EQ(output_of({first, second, "--output-dir", out, "--report", folder_.path("report")}), "");
  EXPECT_EQ(read_file(fs::path(out) / "b.c.de.txt"), "lmldk");
  EXPECT_TRUE(fs::exists(fs::path(out) / "a.de.srt"));
  const json files = json::parse(folder_.read("report"));
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[1]["output"], out + "/b.c.de.txt");
}

TEST_F(TranslateTest, ADamagedFileIsOneLineWithItsPlaceAndNoOutput) {
  const std::string file =
      folder_.write("a.xlf", "<?xml version='1.0'?>\n<xliff version='1.2'>\n <file><body></file>\n</xliff>\n");
  const Finished finished = translate({file, "--output", folder_.path("out.xlf"), "--report", folder_.path("report")});
  EXPECT_TRUE(failed(finished, 1, {"a.xlf: line 3, column 16", "expected well-formed XML"}));
  EXPECT_THAT(folder_.names(), ElementsAre("a.xlf"));
}

TEST_F(TranslateTest, SaysWhatItNeeds) {
  const std::string english = folder_.write("a.txt", "hl"), german = folder_.write("a.de.txt", "hl"),
                    folder = folder_.path(""), out = folder_.path("out"), bad = folder_.write("bad.tsv", "a\tb\nc\n");
  const std::tuple<Arguments, int, Arguments> rows[] = {
      {{"a.txt", "b.txt"}, 2, {"2 files", "--output-dir"}},
      {{"x/a.txt", "y/a.txt", "--output-dir", out}, 2, {"x/a.txt", "y/a.txt", "a.de.txt"}},
      {{english, german, "--output-dir", folder}, 2, {"the translation of " + english + " would replace", german}},
      {{english, "--output-dir", out, "--report", out + "/a.de.txt"}, 2, {"--report", english}},
      {{english, "--output-dir", english}, 1, {english + ": Not a directory"}},
      {{english, "--output", folder}, 1, {"Is a directory"}},
      {{english, "--report", english}, 2, {"--report " + english + ": the same file as FILE"}},
      {{folder_.path("missing.txt")}, 1, {"missing.txt"}},
      {{folder_.write("a.xyz", "hl")},
       1,
       {"a.xyz: unknown file extension, expected a format: text", "srt", "xliff", "po4a"}},
      {{"--glossary", bad}, 1, {"bad.tsv", "line 2"}},
  };
  for (const auto& [options, status, parts] : rows) EXPECT_TRUE(failed(translate(options), status, parts));
  EXPECT_TRUE(failed(translate({}, {"en_de", "en_fr"}, "hl"), 2, {"--target-lang", "de, fr"}));
  EXPECT_TRUE(failed(encdec_command({"translate"}), 2, {"translate"}));
}

TEST_F(TranslateTest, GoesOnWhereItWasStopped) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "bjkf hl " + std::to_string(i) + ".\n\n";
  const std::string file = folder_.write("a.txt", text), progress = "out.txt.progress";
  const Arguments arguments = {file, "--quiet", "--output", folder_.path("out.txt")};
  Arguments words = command(arguments);
  words.insert(words.begin(), kEncdec);
  Process process(words);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!folder_.has(progress) || folder_.read(progress).empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::yield();
  }
  process.send(SIGINT);
  EXPECT_TRUE(failed(process.wait(), 128 + SIGINT, {"SIGINT"}));
  EXPECT_THAT(folder_.names(), ElementsAre("a.txt", progress));
  // Marks a finished translation, to see that it is reused.
  std::string saved = folder_.read(progress), expected = output_of({file});
  const std::size_t position = saved.find("hglcf lmldk 0.");
  ASSERT_NE(position, std::string::npos);
  folder_.write(progress, saved.replace(position, 14, "MARKED TEXT..."));
  output_of(arguments);
  EXPECT_THAT(folder_.names(), ElementsAre("a.txt", "out.txt"));
  EXPECT_EQ(folder_.read("out.txt"), expected.replace(0, 14, "MARKED TEXT..."));
}

}  // namespace
}  // namespace encdec

// Students of Firefox Translations, from text to text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "encdec/engine/base/error.h"
#include "encdec/models/model.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kStudents = fs::path(ENCDEC_GOLDEN_DIR) / "students";

// The texts of a golden case and what the reference translates them to.
struct Texts {
  explicit Texts(const std::string& name) {
    std::ifstream file(kStudents / name / "texts.txt");
    for (std::string line; std::getline(file, line);) {
      sources.push_back(line.substr(0, line.find('\t')));
      targets.push_back(line.substr(line.find('\t') + 1));
    }
  }
  std::vector<std::string> sources, targets;
};

std::vector<std::string> translated(const Model& model, const std::vector<std::string>& sources,
                                    const GenerateOptions& options = {}) {
  std::vector<std::string> texts;
  for (const GenerateResult& result : model.generate(sources, options)) texts.push_back(result.hypotheses[0].text);
  return texts;
}

TEST(Students, TranslateTextsLikeTheReference) {
  for (const char* name : {"planted", "random", "two_vocabularies"}) {
    const Texts texts(name);
    const Model model = Model::load(kStudents / name / "model");
    ASSERT_EQ(texts.sources.size(), 8u);
    EXPECT_EQ(translated(model, texts.sources), texts.targets) << name;
    EXPECT_EQ(translated(model, texts.sources, {.batch_size = 1}), texts.targets) << name;
    EXPECT_EQ(translated(model, texts.sources, {.draft_source = true}), texts.targets) << name;
  }
}

TEST(Students, EveryPrecisionAndSearchFindsThePlantedTranslation) {
  const Texts texts("planted");
  for (const Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8}) {
    const Model model = Model::load(kStudents / "planted" / "model", {.precision = precision});
    EXPECT_EQ(translated(model, texts.sources), texts.targets);
    EXPECT_EQ(translated(model, texts.sources, {.num_beams = 3}), texts.targets);
    EXPECT_EQ(translated(model, texts.sources, {.lexical_shortlist = false}), texts.targets);
    const Model drafting =
        Model::load(kStudents / "planted" / "model", {.precision = precision, .draft_precision = Precision::int8});
    EXPECT_EQ(translated(drafting, texts.sources), texts.targets);
  }
}

TEST(Students, AForcedPhraseNeedNotBeInTheShortlist) {
  const Model model = Model::load(kStudents / "planted" / "model");
  const TokenIds phrase = encode_after_space(*model.tokenizer(), "xyzxyz");
  const GenerateOptions options{.num_beams = 4, .force_words = {{phrase}}};
  EXPECT_THAT(translated(model, {"bjkf hl 70."}, options).front(), HasSubstr("xyzxyz"));
}

TEST(Students, AreAlignedByTheirFirstHead) {
  const Model model = Model::load(kStudents / "planted" / "model");
  EXPECT_EQ(model.config().alignment_head, 0);
  EXPECT_THAT(message_of<ConfigError>(
                  [&] { model.attention("ji", "hjj", {.selection = {.kinds = {AttentionKind::decoder_self}}}); }),
              HasSubstr("decoder self-attention was requested, but marian has none"));
  EXPECT_EQ(model.attention("ji", "hjj").maps.size(), 2u);
}

TEST(Students, AFolderMayHaveOptionsThatNameItsFiles) {
  const TempFolder folder;
  for (const auto& entry : fs::directory_iterator(kStudents / "planted" / "model")) {
    fs::copy_file(entry.path(), folder / entry.path().filename().string());
  }
  fs::rename(folder / "model.enxx.intgemm.alphas.bin", folder / "model.bin");  // the name of CTranslate2's file
  const Texts texts("planted");
  EXPECT_EQ(translated(Model::load(folder.path()), texts.sources), texts.targets);
  folder.write("config.intgemm8bitalpha.yml",
               "relative-paths: true\nmodels:\n  - model.bin\nvocabs:\n  - vocab.enxx.spm\n  - vocab.enxx.spm\n"
               "shortlist:\n  - lex.50.50.enxx.s2t.bin\n  - false\n");
  EXPECT_EQ(translated(Model::load(folder.path()), texts.sources), texts.targets);
  folder.write("lex.50.50.enxx.s2t.bin", "damaged");
  EXPECT_THAT(message_of([&] { Model::load(folder.path()); }), HasSubstr("lex.50.50.enxx.s2t.bin: "));
}

}  // namespace
}  // namespace encdec

#include "encdec/models/generation/text_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/load_tokenizer.h"
#include "tests/support/packed_folder.h"

namespace encdec {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<std::int32_t>;
namespace fs = std::filesystem;

const fs::path kGolden = ENCDEC_GOLDEN_DIR;

// Returns the paths below tests/golden of all folders that have a tokenizer.
std::vector<std::string> folders_with_tokenizers() {
  std::vector<std::string> names;
  for (const char* group : {"tokenizer_json", "tokenizer_native"}) {
    for (const std::string& name : packed_names(kGolden / group)) names.push_back(group + ("/" + name));
  }
  for (const char* name : {"marian/text", "marian/text_separate"}) names.emplace_back(name);
  std::ranges::sort(names);
  return names;
}

std::unique_ptr<Tokenizer> tokenizer_of(const std::string& name) {
  const fs::path folder =
      fs::is_directory(kGolden / name / "model") ? kGolden / name / "model" : unpacked(kGolden / name);
  const fs::path config = folder / "config.json";
  return load_tokenizer(folder, fs::exists(config) ? read_json_object(config).string("model_type").value_or("") : "");
}

std::vector<std::string> golden_texts() {
  std::vector<std::string> texts;
  for (const char* group : {"tokenizer_json", "tokenizer_native"}) {
    std::ifstream file(kGolden / group / "texts.json");
    for (const Json& text : Json::parse(file)) texts.push_back(text);
  }
  for (const char* text : {"I do n't know , 'tis I 've ' quoted ' n 're 's .", "a\xF0\x9F\x98\x80\xE2\x82\xAC b@@ c"}) {
    texts.emplace_back(text);
  }
  return texts;
}

class AnyTextStream : public testing::TestWithParam<std::string> {
 protected:
  // Pushes token by token, and expects the text of all ids.
  void expect_equal(const Ids& ids) const {
    TextStream stream(*tokenizer_);
    std::string text;
    for (const std::int32_t id : ids) {
      const std::string piece = stream.push(id);
      ASSERT_FALSE(find_invalid_utf8(piece)) << testing::PrintToString(ids);
      text += piece;
    }
    ASSERT_EQ(text + stream.finish(), decode_known(*tokenizer_, ids)) << testing::PrintToString(ids);
  }

  Ids encode(const std::string& text) const { return tokenizer_->encode_target(text, languages_); }

  const std::unique_ptr<Tokenizer> tokenizer_ = tokenizer_of(GetParam());
  // Some tokenizers have no default language.
  const EncodeOptions languages_ = {.target_language =
                                        tokenizer_->languages().empty() ? "" : tokenizer_->languages().front()};
};

INSTANTIATE_TEST_SUITE_P(Tokenizers, AnyTextStream, testing::ValuesIn(folders_with_tokenizers()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '/', '_');
  return name;
});

TEST_P(AnyTextStream, PiecesOfATextMakeTheText) {
  for (const std::string& text : golden_texts()) {
    expect_equal(encode(text));
    if (HasFatalFailure()) return;
  }
}

TEST_P(AnyTextStream, PiecesOfALongTextMakeTheText) {
  std::string all;
  for (const std::string& text : golden_texts()) all += text + " ";
  expect_equal(encode(all));
}

TEST_P(AnyTextStream, PiecesOfAnyTokensMakeTheirText) {
  Ids pool;
  for (const std::string& text : golden_texts()) {
    const Ids ids = encode(text);
    pool.insert(pool.end(), ids.begin(), ids.end());
  }
  const std::int32_t largest = std::ranges::max(pool);
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    Ids ids(random() % (i % 20 == 0 ? 300 : 30));
    for (std::int32_t& id : ids) {
      id = random() % 2 == 0 ? pool[random() % pool.size()]
                             : static_cast<std::int32_t>(random() % (static_cast<unsigned>(largest) + 5));
    }
    expect_equal(ids);
    if (HasFatalFailure()) return;
  }
}

// Text comes during generation and not only at its end.
TEST_P(AnyTextStream, TextIsReturnedWhileItGrows) {
  const Ids ids = encode("the cat sat on the mat and the dog sat on the cat");
  TextStream stream(*tokenizer_);
  std::string text;
  for (const std::int32_t id : std::span(ids).first(ids.size() / 2)) text += stream.push(id);
  const std::string whole = decode_known(*tokenizer_, ids);
  EXPECT_GE(text.size(), whole.size() / 4) << whole;
  EXPECT_TRUE(whole.starts_with(text));
}

TEST(TextStream, ManyTokensAtOnceGiveTheSameTextAsOneByOne) {
  const auto tokenizer = tokenizer_of("tokenizer_native/gpt2");
  const Ids ids = tokenizer->encode("Hello world, \xF0\x9F\x98\x80 again and again");
  TextStream one_by_one(*tokenizer), at_once(*tokenizer);
  std::string text;
  for (const std::int32_t id : ids) text += one_by_one.push(id);
  EXPECT_EQ(at_once.push(ids), text);
  EXPECT_EQ(at_once.finish(), one_by_one.finish());
}

TEST(TextStream, NoTokensGiveNoText) {
  const auto tokenizer = tokenizer_of("tokenizer_native/gpt2");
  TextStream stream(*tokenizer);
  EXPECT_EQ(stream.push(Ids{}), "");
  EXPECT_EQ(stream.finish(), "");
}

}  // namespace
}  // namespace encdec

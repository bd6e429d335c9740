#include "encdec/models/generation/text_stream.h"

#include <gtest/gtest.h>

#include <random>

#include "encdec/models/tokenizer/base/utf8.h"
#include "tests/models/tokenizer/golden_tokenizers.h"
#include "tests/support/golden_cases.h"

namespace encdec {
namespace {

using Ids = std::vector<std::int32_t>;

std::vector<std::string> folders_with_tokenizers() {
  std::vector<std::string> names = golden_folders("tokenizer_json");
  std::ranges::copy(golden_folders("tokenizer_native"), std::back_inserter(names));
  names.insert(names.end(), {"marian/text/model", "marian/text_separate/model"});
  return names;
}

std::vector<std::string> texts() {
  std::vector<std::string> texts = golden_texts("tokenizer_json");
  std::ranges::copy(golden_texts("tokenizer_native"), std::back_inserter(texts));
  texts.insert(texts.end(),
               {"I do n't know , 'tis I 've ' quoted ' n 're 's .", "a\xF0\x9F\x98\x80\xE2\x82\xAC b@@ c"});
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

  const std::unique_ptr<Tokenizer> tokenizer_ = golden_tokenizer(GetParam());
  // Some tokenizers have no default language.
  const EncodeOptions languages_ = {.target_language =
                                        tokenizer_->languages().empty() ? "" : tokenizer_->languages().front()};
};

INSTANTIATE_TEST_SUITE_P(Tokenizers, AnyTextStream, testing::ValuesIn(folders_with_tokenizers()), name_of_case);

TEST_P(AnyTextStream, PiecesOfShortAndLongTextsMakeTheText) {
  std::string all;
  for (const std::string& text : texts()) {
    expect_equal(encode(text));
    if (HasFatalFailure()) return;
    all += text + " ";
  }
  expect_equal(encode(all));
}

TEST_P(AnyTextStream, PiecesOfAnyTokensMakeTheirText) {
  Ids pool;
  for (const std::string& text : texts()) {
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

TEST(TextStream, ManyTokensAtOnceGiveTheSameTextAsOneByOneAndNoTokensGiveNone) {
  const auto tokenizer = golden_tokenizer("tokenizer_native/gpt2");
  const Ids ids = tokenizer->encode("Hello world, \xF0\x9F\x98\x80 again and again");
  TextStream one_by_one(*tokenizer), at_once(*tokenizer), none(*tokenizer);
  std::string text;
  for (const std::int32_t id : ids) text += one_by_one.push(id);
  EXPECT_EQ(at_once.push(ids), text);
  EXPECT_EQ(at_once.finish(), one_by_one.finish());
  EXPECT_EQ(none.push(Ids{}) + none.finish(), "");
}

}  // namespace
}  // namespace encdec

#include "encdec/models/checkpoint/whisper_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// Expected values are the ids of openai/whisper's tokenizers.
TEST(WhisperFormat, SpecialTokensHaveTheIdsOfEachVocabulary) {
  struct Case {
    std::int64_t vocabulary, end, translate, no_timestamps, first_time;
  };
  for (const auto& [vocabulary, end, translate, no_timestamps, first_time] :
       {Case{51864, 50256, 50357, 50362, 50363}, Case{51865, 50257, 50358, 50363, 50364},
        Case{51866, 50257, 50359, 50364, 50365}}) {
    SCOPED_TRACE(vocabulary);
    EXPECT_EQ(whisper_text_tokens(vocabulary), end);
    const auto names = whisper_special_tokens(vocabulary - end);
    EXPECT_THAT(names, SizeIs(static_cast<std::size_t>(vocabulary - end)));
    const auto id = [&, first = end](std::string_view name) {
      return first + (std::ranges::find(names, name) - names.begin());
    };
    EXPECT_EQ(id("<|endoftext|>"), end);
    EXPECT_EQ(id("<|startoftranscript|>"), end + 1);
    EXPECT_EQ(id("<|en|>"), end + 2);
    EXPECT_EQ(id("<|su|>"), end + 100);
    EXPECT_EQ(id("<|yue|>"), vocabulary == 51866 ? end + 101 : vocabulary);
    EXPECT_EQ(id("<|translate|>"), translate);
    EXPECT_EQ(id("<|transcribe|>"), translate + 1);
    EXPECT_EQ(id("<|startofprev|>"), translate + 3);
    EXPECT_EQ(id("<|nospeech|>"), no_timestamps - 1);
    EXPECT_EQ(id("<|notimestamps|>"), no_timestamps);
    EXPECT_EQ(id("<|0.00|>"), first_time);
    EXPECT_EQ(id("<|0.02|>"), first_time + 1);
    EXPECT_EQ(id("<|1.10|>"), first_time + 55);
    EXPECT_EQ(id("<|30.00|>"), vocabulary - 1);
  }
}

TEST(WhisperFormat, OtherVocabulariesHaveTheSpecialTokensThatFit) {
  EXPECT_EQ(whisper_text_tokens(51863), std::nullopt);
  EXPECT_THAT(whisper_special_tokens(0), SizeIs(0));
  EXPECT_THAT(whisper_special_tokens(2), ElementsAre("<|endoftext|>", "<|startoftranscript|>"));
  EXPECT_EQ(whisper_special_tokens(128).back(), "<|0.40|>");
  EXPECT_EQ(whisper_special_tokens(1'000'000).back(), "<|30.00|>");
}

TEST(WhisperFormat, LanguagesHaveCodesAndNames) {
  EXPECT_THAT(whisper_languages(), SizeIs(100));
  EXPECT_EQ(whisper_language_code("de"), "de");
  EXPECT_EQ(whisper_language_code("German"), "de");
  EXPECT_EQ(whisper_language_code("HAITIAN CREOLE"), "ht");
  EXPECT_EQ(whisper_language_code("flemish"), "nl");
  EXPECT_EQ(whisper_language_code("YUE"), "yue");
  EXPECT_EQ(whisper_language_code("klingon"), std::nullopt);
  EXPECT_EQ(whisper_language_code(""), std::nullopt);
}

}  // namespace
}  // namespace encdec

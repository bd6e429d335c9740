// Compares tokenizers, loaded from the files of published checkpoints, with transformers' AutoTokenizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <thread>

#include "encdec/engine/base/cancellation.h"
#include "tests/models/tokenizer/golden_tokenizers.h"

namespace encdec {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<std::int32_t>;

const std::vector<std::string>& texts() {
  static const auto all = golden_texts("tokenizer_native");
  return all;
}

class NativeTokenizer : public testing::TestWithParam<std::string> {
 protected:
  const Json expected_ = read_json(golden_folder(GetParam()) / "expected.json");
  const std::unique_ptr<Tokenizer> tokenizer_ = golden_tokenizer(GetParam());
};

INSTANTIATE_TEST_SUITE_P(, NativeTokenizer, testing::ValuesIn(golden_folders("tokenizer_native")), name_of_folder);

TEST_P(NativeTokenizer, SourcesBecomeTheSameIds) {
  for (const Json& run : expected_["source"]) {
    const EncodeOptions options{.source_language = run["language"]};
    for (std::size_t i = 0; i < run["ids"].size(); ++i) {
      EXPECT_EQ(tokenizer_->encode(texts()[i], options), run["ids"][i].get<Ids>())
          << options.source_language << " '" << texts()[i] << "'";
    }
  }
}

TEST_P(NativeTokenizer, TargetsBecomeTheSameIds) {
  const Json& ids = expected_["source"][0]["ids"];
  for (std::size_t i = 0; expected_["target_is_source"].get<bool>() && i < texts().size(); ++i) {
    EXPECT_EQ(tokenizer_->encode_target(texts()[i]), ids[i].get<Ids>()) << texts()[i];
  }
  for (const Json& run : expected_["target"]) {
    const EncodeOptions options{.target_language = run["language"]};
    for (std::size_t i = 0; i < run["ids"].size(); ++i) {
      EXPECT_EQ(tokenizer_->encode_target(texts()[i], options), run["ids"][i].get<Ids>())
          << options.target_language << " '" << texts()[i] << "'";
    }
  }
}

TEST_P(NativeTokenizer, PiecesAreTheSame) {
  const Json& ids = expected_["source"][0]["ids"];
  for (std::size_t i = 0; i < expected_["pieces"].size(); ++i) {
    EXPECT_EQ(tokenizer_->pieces(ids[i].get<Ids>(), TextSide::source),
              expected_["pieces"][i].get<std::vector<std::string>>())
        << texts()[i];
  }
}

TEST_P(NativeTokenizer, IdsBecomeTheSameText) {
  const Json& ids = expected_["source"][0]["ids"];
  ASSERT_EQ(expected_["decode"].size(), texts().size());
  for (std::size_t i = 0; i < texts().size(); ++i) {
    EXPECT_EQ(tokenizer_->decode(ids[i].get<Ids>()), expected_["decode"][i].get<std::string>()) << texts()[i];
  }
}

TEST_P(NativeTokenizer, ArbitraryIdsBecomeTheSameText) {
  for (const Json& decoded : expected_["decode_ids"]) {
    EXPECT_EQ(tokenizer_->decode(decoded[0].get<Ids>()), decoded[1].get<std::string>()) << decoded[0];
  }
}

// A long word and many short ones. The check is called often enough to cancel anywhere, and the number of calls grows
// linearly.
TEST_P(NativeTokenizer, ChecksForCancellationOften) {
  const auto text_of = [](std::size_t bytes) {
    std::string text(bytes / 2, 'a');
    while (text.size() < bytes) text += " one é 2.";
    return text;
  };
  int calls = 0, limit = std::numeric_limits<int>::max();
  const std::function<void()> check = [&] {
    if (++calls == limit) throw std::runtime_error("enough");
  };
  const CancellationScope scope(check);
  const auto calls_for = [&](std::size_t bytes) {
    calls = 0;
    tokenizer_->encode(text_of(bytes));
    return calls;
  };
  const Ids expected = tokenizer_->encode(text_of(1000));
  const int once = calls_for(200'000), twice = calls_for(400'000);
  EXPECT_GE(once, 20);
  EXPECT_LE(twice, once * 5 / 2);
  for (limit = 1; limit < once * 9 / 10; limit += once / 5) {
    EXPECT_THROW(calls_for(200'000), std::runtime_error) << "call " << limit << " of " << once;
  }
  limit = std::numeric_limits<int>::max();
  EXPECT_EQ(tokenizer_->encode(text_of(1000)), expected);
}

// Folders without a family: load_tokenizer() follows their tokenizer.json.
TEST(TokenizerJsonAlone, IsFollowed) {
  const std::vector<std::string> all = golden_texts("tokenizer_json"), folders = golden_folders("tokenizer_json");
  EXPECT_GT(folders.size(), 10u);
  for (const std::string& folder : folders) {
    SCOPED_TRACE(folder);
    const Json expected = read_json(golden_folder(folder) / "expected.json");
    const auto tokenizer = load_tokenizer(golden_folder(folder), "");
    ASSERT_GE(expected["ids"].size(), 10u);
    for (std::size_t row = 0; row < expected["ids"].size(); ++row) {
      const std::string text = all[expected["texts"][row].get<std::size_t>()];
      const Ids ids = expected["ids"][row];
      EXPECT_EQ(tokenizer->encode(text), ids) << text;
      EXPECT_EQ(tokenizer->decode(ids), expected["decoded"][row].get<std::string>());
      const Encoding encoding = tokenizer->encode_with_ranges(text);
      EXPECT_EQ(encoding.ids, ids);
      std::vector<std::size_t> offsets;
      for (const auto& [begin, end] : encoding.ranges) offsets.insert(offsets.end(), {begin, end});
      EXPECT_EQ(offsets, expected["offsets"][row].get<std::vector<std::size_t>>()) << text;
    }
    for (std::size_t row = 0; row < expected["pieces"].size(); ++row) {
      EXPECT_EQ(tokenizer->pieces(expected["ids"][row + 3].get<Ids>(), TextSide::source),
                expected["pieces"][row].get<std::vector<std::string>>());
    }
    for (std::size_t row = 0; row < expected["pair_ids"].size(); ++row) {
      const Encoding pair = tokenizer->encode_pair(all[3 + row], all[10 + row]);
      EXPECT_EQ(pair.ids, expected["pair_ids"][row].get<Ids>());
      Ids types(pair.ids.size(), 0);
      for (std::size_t i = pair.second_segment; i < types.size(); ++i) types[i] = 1;
      EXPECT_EQ(types, expected["pair_types"][row].get<Ids>());
    }
  }
}

TEST(MarianTokenizer, AgreesWithTransformers) {
  for (const char* name : {"text", "text_separate"}) {
    const std::filesystem::path folder = kGoldenFolder / "marian" / name;
    const auto tokenizer = load_tokenizer(folder / "model", "marian");
    const Json expected = read_json(folder / "expected_tokenizer.json");
    ASSERT_GT(std::min(expected["encode"].size(), expected["decode"].size()), 20u);
    for (const Json& row : expected["encode"]) {
      EXPECT_EQ(tokenizer->encode(row["text"].get<std::string>()), row["ids"].get<Ids>()) << row["text"];
      EXPECT_EQ(tokenizer->encode_target(row["text"].get<std::string>()), row["target_ids"].get<Ids>()) << row["text"];
    }
    for (const Json& row : expected["decode"]) {
      EXPECT_EQ(tokenizer->decode(row[0].get<Ids>()), row[1].get<std::string>()) << row[0];
    }
  }
}

TEST(Tokenizers, GiveTheSameInSeveralThreads) {
  std::vector<std::string> folders = golden_folders("tokenizer_native");
  std::ranges::copy(golden_folders("tokenizer_json"), std::back_inserter(folders));
  folders.emplace_back("marian/text/model");
  for (const std::string& folder : folders) {
    const auto tokenizer = golden_tokenizer(folder), fresh = golden_tokenizer(folder);
    std::vector<Ids> ids;
    for (const std::string& text : texts()) ids.push_back(fresh->encode(text));
    std::vector<std::size_t> different(4);
    std::vector<std::thread> threads;
    for (std::size_t& count : different) {
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < ids.size(); ++i) {
          count += tokenizer->encode(texts()[i]) == ids[i] ? 0 : 1;
          count += tokenizer->decode(ids[i]) == fresh->decode(ids[i]) ? 0 : 1;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(different, testing::Each(0u)) << folder;
  }
}

// The ids are those of transformers.
TEST(NativePairs, HaveTheTokensOfTheirFamilies) {
  const std::map<std::string, Ids> expected = {
      {"albert", {2, 5, 157, 167, 20, 5, 93, 12, 14, 17, 95, 3, 5, 16, 111, 51, 25, 3}},
      {"bart", {0, 43, 72, 79, 79, 82, 267, 265, 79, 71, 4, 2, 2, 347, 419, 416, 91, 2}},
      {"mbart", {4, 197, 12, 166, 19, 4, 92, 11, 13, 16, 94, 120, 110, 50, 24, 2, 272}},
      {"mbart50", {272, 4, 197, 12, 166, 19, 4, 92, 11, 13, 16, 94, 120, 110, 50, 24, 2}},
      {"t5", {3, 196, 11, 165, 18, 3, 91, 10, 12, 15, 93, 1, 119, 109, 49, 23, 1}}};
  for (const auto& [name, ids] : expected) {
    const Encoding pair = golden_tokenizer("tokenizer_native/" + name)->encode_pair("Hello world!", "The quick fox");
    EXPECT_EQ(pair.ids, ids) << name;
    EXPECT_EQ(pair.second_segment, kNoSecondSegment) << name;
  }
}

}  // namespace
}  // namespace encdec

// Compares the tokenizers of all families, loaded from the files of published checkpoints, with transformers'
// AutoTokenizer.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/load_tokenizer.h"
#include "tests/support/packed_folder.h"

namespace encdec {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<std::int32_t>;
namespace fs = std::filesystem;

const fs::path kRoot = fs::path(ENCDEC_GOLDEN_DIR) / "tokenizer_native";

Json read_json(const fs::path& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

const std::vector<std::string>& texts() {
  static const auto all = read_json(kRoot / "texts.json").get<std::vector<std::string>>();
  return all;
}

class NativeTokenizer : public testing::TestWithParam<std::string> {
 protected:
  const fs::path folder_ = unpacked(kRoot / GetParam());
  const Json expected_ = read_json(folder_ / "expected.json");
  const std::unique_ptr<Tokenizer> tokenizer_ =
      load_tokenizer(folder_, read_json(folder_ / "config.json")["model_type"].get<std::string>());
};

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
  const fs::path root = fs::path(ENCDEC_GOLDEN_DIR) / "tokenizer_json";
  const Json texts_of_all = read_json(root / "texts.json");
  const std::vector<std::string> names = packed_names(root);
  for (const std::string& name : names) {
    const Json expected = read_json(unpacked(root / name) / "expected.json");
    const auto tokenizer = load_tokenizer(unpacked(root / name), "");
    for (std::size_t row = 0; row < expected["ids"].size(); ++row) {
      const auto text = texts_of_all[expected["texts"][row].get<std::size_t>()].get<std::string>();
      EXPECT_EQ(tokenizer->encode(text), expected["ids"][row].get<Ids>()) << name << " '" << text << "'";
      EXPECT_EQ(tokenizer->decode(expected["ids"][row].get<Ids>()), expected["decoded"][row].get<std::string>())
          << name;
      const Encoding encoding = tokenizer->encode_with_ranges(text);
      EXPECT_EQ(encoding.ids, expected["ids"][row].get<Ids>());
      std::vector<std::size_t> offsets;
      for (const auto& [begin, end] : encoding.ranges) offsets.insert(offsets.end(), {begin, end});
      EXPECT_EQ(offsets, expected["offsets"][row].get<std::vector<std::size_t>>()) << name << " '" << text << "'";
    }
    for (std::size_t row = 0; row < expected["pair_ids"].size(); ++row) {
      const Encoding pair =
          tokenizer->encode_pair(texts_of_all[3 + row].get<std::string>(), texts_of_all[10 + row].get<std::string>());
      EXPECT_EQ(pair.ids, expected["pair_ids"][row].get<Ids>()) << name;
      Ids types(pair.ids.size(), 0);
      for (std::size_t i = pair.second_segment; i < types.size(); ++i) types[i] = 1;
      EXPECT_EQ(types, expected["pair_types"][row].get<Ids>()) << name;
    }
  }
  EXPECT_GT(names.size(), 10u);
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
    const Encoding pair = load_tokenizer(unpacked(kRoot / name), name)->encode_pair("Hello world!", "The quick fox");
    EXPECT_EQ(pair.ids, ids) << name;
    EXPECT_EQ(pair.second_segment, kNoSecondSegment) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(, NativeTokenizer, testing::ValuesIn(packed_names(kRoot)),
                         [](const auto& folder) { return folder.param; });

}  // namespace
}  // namespace encdec

#include "encdec/models/checkpoint/yaml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using json = nlohmann::json;
using testing::HasSubstr;

json yaml_of(std::string_view text) {
  return parse_yaml(text, "x.yml");
}

std::string yaml_refusal(std::string_view text) {
  return refusal_of("x.yml: ", [&] { yaml_of(text); });
}

TEST(Yaml, ReadsMappingsSequencesAndScalars) {
  EXPECT_EQ(yaml_of("a: 1\nb:\n  - x\n  - {c: d}\n"), json::parse(R"({"a": 1, "b": ["x", {"c": "d"}]})"));
  EXPECT_EQ(yaml_of("models: [m.npz]\nbeam-size: 6\n"), json::parse(R"({"models": ["m.npz"], "beam-size": 6})"));
  EXPECT_EQ(yaml_of("a: |\n  one\n  two\n"), json::parse(R"({"a": "one\ntwo\n"})"));
  EXPECT_EQ(yaml_of(""), nullptr);
  EXPECT_EQ(yaml_of("text"), "text");
}

TEST(Yaml, ReadsPlainScalarsByTheCoreSchema) {
  const std::pair<const char*, json> kCases[] = {{"12", 12},
                                                 {"-12", -12},
                                                 {"+12", 12},
                                                 {"0x1F", 31},
                                                 {"0o17", 15},
                                                 {"012", 12},
                                                 {"1.5", 1.5},
                                                 {"-1.5e3", -1500.0},
                                                 {".5", 0.5},
                                                 {"-.5", -0.5},
                                                 {"5.", 5.0},
                                                 {"1e3", 1000.0},
                                                 {"18446744073709551615", UINT64_MAX},
                                                 {"-9223372036854775807", -INT64_MAX},
                                                 {"18446744073709551616", 18446744073709551616.0},
                                                 {"true", true},
                                                 {"False", false},
                                                 {"null", nullptr},
                                                 {"~", nullptr},
                                                 {"", nullptr},
                                                 {"'12'", "12"},
                                                 {"\"true\"", "true"}};
  for (const auto& [text, expected] : kCases)
    EXPECT_EQ(yaml_of(fmt::format("a: {}\n", text)).at("a"), expected) << text;
  for (const char* text :
       {"yes", "0x", "1_000", ".inf", ".nan", "+-1", "1e", ".", "-.", "0x-1", "1.2.3", "tRUE", "e5", ".e5"}) {
    EXPECT_EQ(yaml_of(fmt::format("a: {}\n", text)).at("a"), text);
  }
  EXPECT_THAT(yaml_refusal("a: 1e999\n"), HasSubstr("line 1: number '1e999' beyond double's range"));
}

TEST(Yaml, KeysAreStrings) {
  EXPECT_EQ(yaml_of("1: 0\ntrue: 1\n~: 2\n\"\\x85\": 3\n'it''s': 4\n\",\": 5\n\"\\\"\": 6\n? long key\n: 7\n"),
            json::parse(R"({"1": 0, "true": 1, "~": 2, "\u0085": 3, "it's": 4, ",": 5, "\"": 6, "long key": 7})"));
}

TEST(Yaml, ReadsTheVocabulariesOfMarian) {
  EXPECT_EQ(yaml_of("</s>: 0\n<unk>: 1\n▁the: 2\n,: 3\n.: 4\n-: 5\n\"\\u2028\": 6\n"),
            json::parse(R"({"</s>": 0, "<unk>": 1, "▁the": 2, ",": 3, ".": 4, "-": 5, "\u2028": 6})"));
  const std::string escaped("a\0b", 3);
  EXPECT_EQ(yaml_of("\"a\\0b\": 1\n").at(escaped), 1);
  std::string large;
  for (int i = 0; i < 60000; ++i) large += fmt::format("▁w{}: {}\n", i, i);
  EXPECT_EQ(yaml_of(large).size(), 60000u);
}

TEST(Yaml, RefusesWhatJsonCannotExpress) {
  EXPECT_THAT(yaml_refusal("a: &x 1\n"), HasSubstr("line 1: an anchor"));
  EXPECT_THAT(yaml_refusal("a: &x [1]\nb: *x\n"), HasSubstr("line 1: an anchor"));
  EXPECT_THAT(yaml_refusal("a: 1\nb: *x\n"), HasSubstr("line 2: an alias"));
  EXPECT_THAT(yaml_refusal("a: !!str 1\n"), HasSubstr("line 1: a tag"));
  EXPECT_THAT(yaml_refusal("a: !x {}\n"), HasSubstr("line 1: a tag"));
  EXPECT_THAT(yaml_refusal("? [a, b]\n: 1\n"), HasSubstr("line 1: a key of several values"));
  EXPECT_THAT(yaml_refusal("a: 1\nb: 2\na: 3\n"), HasSubstr("line 3: the key 'a' is there twice"));
  EXPECT_THAT(yaml_refusal("a: 1\n---\nb: 2\n"), HasSubstr("line 2: a second document"));
}

TEST(Yaml, RefusesTextThatIsNotYaml) {
  EXPECT_THAT(yaml_refusal("a: [1, 2\n"), HasSubstr("not valid YAML: line 2"));
  EXPECT_THAT(yaml_refusal("a: 1\n\tb: 2\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(yaml_refusal("a: \xff\n"), HasSubstr("not valid YAML: byte 3: "));
  EXPECT_THAT(yaml_refusal(std::string_view("a: \0\n", 5)), HasSubstr("not valid YAML: byte 3: "));
  EXPECT_THAT(yaml_refusal("\xff\xfe"
                           "a\0:\0 \0"),
              HasSubstr("not valid YAML"));
}

TEST(Yaml, LimitsDepth) {
  EXPECT_THAT(yaml_refusal(std::string(1'000'000, '[')), HasSubstr("nested deeper than 64 levels"));
  std::string deep;
  for (std::size_t i = 0; i < 500; ++i) deep += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(yaml_refusal(deep), HasSubstr("nested deeper than 64 levels"));
  EXPECT_NO_THROW(yaml_of(std::string(64, '[') + std::string(64, ']')));
}

TEST(Yaml, FilesAreMappingsOfLimitedSize) {
  const TempFolder folder;
  EXPECT_EQ(read_yaml_object(folder.write("a.yml", "a: 1\n")).required_integer("a"), 1);
  EXPECT_THROW(read_yaml_object(folder.write("b.yml", "- 1\n")), FileError);
  EXPECT_THROW(read_yaml_object(folder.write("c.yml", "a: 1\n"), 3), FileError);
  EXPECT_THROW(read_yaml_object(folder / "missing.yml"), FileError);
}

}  // namespace
}  // namespace encdec

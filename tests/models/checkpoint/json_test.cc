#include "encdec/models/checkpoint/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::StartsWith;

JsonObject object_of(std::string_view text) {
  return {parse_json(text, "config.json"), "config.json"};
}

std::string json_refusal(std::string_view text) {
  return refusal_of("config.json: ", [&] { parse_json(text, "config.json"); });
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

TEST(JsonObject, ReturnsValuesOfTheirTypes) {
  const auto object = object_of(R"({"size": 512, "rate": 0.5, "whole": 2, "tied": true, "name": "marian\n",
                                    "ids": [3, 1, 2], "words": [[1], [], [2, 3]], "kinds": ["a", "b"]})");
  EXPECT_THAT(object.integer("size"), Optional(512));
  EXPECT_THAT(object.number("rate"), Optional(0.5));
  EXPECT_THAT(object.number("whole"), Optional(2.0));
  EXPECT_THAT(object.boolean("tied"), Optional(true));
  EXPECT_THAT(object.string("name"), Optional(std::string("marian\n")));
  EXPECT_THAT(object.integers("ids"), ElementsAre(3, 1, 2));
  EXPECT_THAT(object.integer_lists("words"), ElementsAre(ElementsAre(1), IsEmpty(), ElementsAre(2, 3)));
  EXPECT_THAT(object.strings("kinds"), ElementsAre("a", "b"));
  EXPECT_EQ(object.required_integer("size", {.min = 1, .max = 512}), 512);
  EXPECT_EQ(object.required_string("name"), "marian\n");
}

TEST(JsonObject, ReadsASingleValueAsAList) {
  const auto object = object_of(R"({"eos_token_id": 2, "architectures": "Marian"})");
  EXPECT_THAT(object.integers("eos_token_id"), ElementsAre(2));
  EXPECT_THAT(object.strings("architectures"), ElementsAre("Marian"));
}

TEST(JsonObject, ReadsNullAsAbsent) {
  const auto object = object_of(R"({"x": null})");
  for (const char* key : {"x", "y"}) {
    EXPECT_FALSE(object.has(key));
    EXPECT_EQ(object.integer(key), std::nullopt);
    EXPECT_EQ(object.number(key), std::nullopt);
    EXPECT_EQ(object.boolean(key), std::nullopt);
    EXPECT_EQ(object.string(key), std::nullopt);
    EXPECT_FALSE(object.object(key).has_value());
    EXPECT_THAT(object.integers(key), IsEmpty());
    EXPECT_THAT(object.integer_lists(key), IsEmpty());
    EXPECT_THAT(object.strings(key), IsEmpty());
  }
}

TEST(JsonObject, ReadsIntegersUpToTheLimitsOfTheirRange) {
  const auto object = object_of(R"({"least": -9223372036854775808, "largest": 9223372036854775807})");
  EXPECT_THAT(object.integer("least"), Optional(INT64_MIN));
  EXPECT_THAT(object.integer("largest"), Optional(INT64_MAX));
}

TEST(JsonObject, AnIntegerMayBeWrittenAsAFloat) {
  const auto object = object_of(R"({"a": 512.0, "b": [1.0, 2e3], "c": 0.5, "d": 1e300})");
  EXPECT_THAT(object.integer("a"), Optional(512));
  EXPECT_THAT(object.integers("b"), testing::ElementsAre(1, 2000));
  for (const char* key : {"c", "d"}) EXPECT_THROW(static_cast<void>(object.integer(key)), ConfigError);
  EXPECT_THROW(static_cast<void>(object.integer("a", {.max = 511})), ConfigError);
}

TEST(JsonObject, KeepsTheFileAliveThroughItsParts) {
  const auto inner = [] { return object_of(R"({"a": {"b": {"c": 7}}})").object("a")->required_object("b"); }();
  EXPECT_THAT(inner.integer("c"), Optional(7));
}

TEST(JsonObject, RefusesATopLevelThatIsNotAnObject) {
  EXPECT_THROW(object_of("[]"), FileError);
  EXPECT_THROW(object_of("null"), FileError);
  EXPECT_EQ(message_of<FileError>([] { object_of("[1, 2]"); }), "config.json: array of 2, expected a JSON object");
}

struct WrongValue {
  const char* text;
  std::function<void(const JsonObject&)> read;
  const char* message;
};

TEST(JsonObject, NamesTheWrongValue) {
  const std::vector<WrongValue> table = {
      {R"({"d": 0})", [](auto& o) { o.integer("d", {.min = 1, .max = 64}); },
       "'d' is 0, expected an integer from 1 to 64"},
      {R"({"d": 65})", [](auto& o) { o.integer("d", {.min = 1, .max = 64}); },
       "'d' is 65, expected an integer from 1 to 64"},
      {R"({"d": -1})", [](auto& o) { o.integer("d", {.min = 0}); }, "'d' is -1, expected an integer of at least 0"},
      {R"({"d": 1})", [](auto& o) { o.integer("d", {.max = 0}); }, "'d' is 1, expected an integer of at most 0"},
      {R"({"d": 2.5})", [](auto& o) { o.integer("d"); }, "'d' is 2.5, expected an integer"},
      {R"({"d": true})", [](auto& o) { o.integer("d"); }, "'d' is true, expected an integer"},
      {R"({"d": "2"})", [](auto& o) { o.integer("d"); }, "'d' is \"2\", expected an integer"},
      {R"({"d": [2]})", [](auto& o) { o.integer("d"); }, "'d' is array of 1, expected an integer"},
      {R"({"d": 9223372036854775808})", [](auto& o) { o.integer("d"); },
       "'d' is 9223372036854775808, expected an integer"},
      {R"({"d": -9223372036854775809})", [](auto& o) { o.integer("d"); },
       "'d' is -9.223372036854776e+18, expected an integer"},
      {R"({})", [](auto& o) { o.required_integer("d", {.min = 1, .max = 2}); },
       "'d' is missing, expected an integer from 1 to 2"},
      {R"({"d": null})", [](auto& o) { o.required_integer("d"); }, "'d' is missing, expected an integer"},
      {R"({"d": "x"})", [](auto& o) { o.number("d"); }, "'d' is \"x\", expected a number"},
      {R"({"d": 1.5})", [](auto& o) { o.number("d", {.min = 0, .max = 1}); },
       "'d' is 1.5, expected a number from 0 to 1"},
      {R"({"d": -1e-9})", [](auto& o) { o.number("d", {.min = 0}); }, "'d' is -1e-09, expected a number of at least 0"},
      {R"({"d": 2})", [](auto& o) { o.number("d", {.max = 1}); }, "'d' is 2, expected a number of at most 1"},
      {R"({"d": 1})", [](auto& o) { o.boolean("d"); }, "'d' is 1, expected true or false"},
      {R"({"d": {"a": 1}})", [](auto& o) { o.string("d"); }, "'d' is object of 1, expected a string"},
      {R"({})", [](auto& o) { o.required_string("d"); }, "'d' is missing, expected a string"},
      {R"({"d": []})", [](auto& o) { o.object("d"); }, "'d' is array of 0, expected an object"},
      {R"({})", [](auto& o) { o.required_object("d"); }, "'d' is missing, expected an object"},
      {R"({"d": {}})", [](auto& o) { o.integers("d"); }, "'d' is object of 0, expected a list of integers"},
      {R"({"d": 7})", [](auto& o) { o.integers("d", {.min = 0, .max = 6}); },
       "'d' is 7, expected an integer from 0 to 6"},
      {R"({"d": [1, 7]})", [](auto& o) { o.integers("d", {.min = 0, .max = 6}); },
       "'d[1]' is 7, expected an integer from 0 to 6"},
      {R"({"d": [1, 0.5]})", [](auto& o) { o.integers("d"); }, "'d[1]' is 0.5, expected an integer"},
      {R"({"d": 1})", [](auto& o) { o.integer_lists("d"); }, "'d' is 1, expected a list of lists of integers"},
      {R"({"d": [[1], 2]})", [](auto& o) { o.integer_lists("d"); }, "'d[1]' is 2, expected a list of integers"},
      {R"({"d": [[1], [2, -1]]})", [](auto& o) { o.integer_lists("d", {.min = 0}); },
       "'d[1][1]' is -1, expected an integer of at least 0"},
      {R"({"d": 1})", [](auto& o) { o.strings("d"); }, "'d' is 1, expected a list of strings"},
      {R"({"d": ["a", null]})", [](auto& o) { o.strings("d"); }, "'d[1]' is null, expected a string"},
      {R"({"a": {"b": {"d": 1}}})", [](auto& o) { o.object("a")->object("b")->string("d"); },
       "'a.b.d' is 1, expected a string"},
      {R"({"a": {"b": 1}})", [](auto& o) { o.object("a")->object("b"); }, "'a.b' is 1, expected an object"},
      {R"({"d": "1\n2\u0007\"\u00e9"})", [](auto& o) { o.integer("d"); },
       R"('d' is "1\n2\u0007\"\u00e9", expected an integer)"},
      {R"({"d": "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee"})", [](auto& o) { o.integer("d"); },
       "'d' is \"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...\", expected an integer"},
  };
  for (const WrongValue& row : table) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(message_of<ConfigError>([&] { row.read(object_of(row.text)); }),
              std::string("config.json: ") + row.message);
  }
}

TEST(ParseJson, AcceptsWhatTheStandardAllows) {
  EXPECT_EQ(parse_json("0", "x"), 0);
  EXPECT_EQ(parse_json(" \t\r\n\"\\ud83d\\ude00\" ", "x"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(parse_json("{\"\": [{}, [], -0, 1e2, \"\\u0000\"]}", "x").at("").size(), 5u);
  EXPECT_EQ(parse_json(R"({"a": {"x": 1}, "b": {"x": 2}})", "x").at("b").at("x"), 2);
  EXPECT_EQ(parse_json(R"([{"x": 1}, {"x": 2}])", "x").at(1).at("x"), 2);
  EXPECT_NO_THROW(parse_json(repeated("[", 64) + repeated("]", 64), "x"));
}

TEST(ParseJson, KeepsNumbersExactly) {
  EXPECT_EQ(parse_json("18446744073709551615", "x").get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(parse_json("-9223372036854775808", "x").get<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(parse_json("0.1", "x").get<double>(), 0.1);
}

TEST(ParseJson, ReportsWhereATextIsWrong) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "not valid JSON: parse error at line 1, column 1"},
      {"{", "not valid JSON: parse error at line 1, column 2"},
      {"{\n  \"a\": 1,\n}", "not valid JSON: parse error at line 3, column 1"},
      {"{} x", "not valid JSON: parse error at line 1, column 4"},
      {"{}{}", "not valid JSON: parse error at line 1, column 3"},
      {"[1 2]", "unexpected number literal; expected ']'"},
      {"{'a': 1}", "not valid JSON: parse error at line 1, column 2"},
      {"{a: 1}", "not valid JSON: parse error at line 1, column 2"},
      {"[01]", "not valid JSON: parse error at line 1, column 3"},
      {"[1.]", "not valid JSON: parse error at line 1, column 4"},
      {"[+1]", "not valid JSON: parse error at line 1, column 2"},
      {"[NaN]", "not valid JSON: parse error at line 1, column 2"},
      {"[Infinity]", "not valid JSON: parse error at line 1, column 2"},
      {"[1e999]", "not valid JSON: number overflow parsing '1e999'"},
      {"// comment\n{}", "not valid JSON: parse error at line 1, column 1"},
      {"[\"a\nb\"]", "control character U+000A"},
      {"[\"\\x41\"]", "forbidden character after backslash"},
      {"[\"\\ud800\"]", "surrogate U+D800..U+DBFF must be followed by U+DC00..U+DFFF"},
      {"[\"\\udc00\"]", "surrogate U+DC00..U+DFFF must follow U+D800..U+DBFF"},
      {"[\"\xff\"]", "ill-formed UTF-8 byte"},
      {"[\"\xc0\x80\"]", "ill-formed UTF-8 byte"},          // overlong
      {"[\"\xed\xa0\x80\"]", "ill-formed UTF-8 byte"},      // surrogate
      {"[\"\xf4\x90\x80\x80\"]", "ill-formed UTF-8 byte"},  // above U+10FFFF
      {"[\"\xe2\x82\"]", "ill-formed UTF-8 byte"},
      {"\xEF\xBB\xBF{}", "not valid JSON: begins with a byte order mark"},
      {std::string("{}\0", 3), "not valid JSON: byte 2 is NUL"},
      {std::string("{}\0{\"hidden\": 1}", 16), "not valid JSON: byte 2 is NUL"},
      {R"({"a": 1, "a": 1})", "the key 'a' is there twice, expected it once in an object"},
      {R"({"a": 1, "\u0061": 2})", "the key 'a' is there twice"},
      {R"({"x": [{"a\n": 1, "b": {}, "a\n": 2}]})", R"(the key 'a\n' is there twice)"},
      {repeated("[", 65) + repeated("]", 65), "nested deeper than 64 levels"},
      {repeated("{\"a\":", 65), "nested deeper than 64 levels"},
      {repeated("[", 1'000'000), "nested deeper than 64 levels"},
      {"[\"" + repeated("a", 1'000'000), "missing closing quote"},
  };
  for (const auto& [text, message] : table) {
    SCOPED_TRACE(text.substr(0, 40));
    const std::string refusal = json_refusal(text);
    EXPECT_THAT(refusal, StartsWith("config.json: "));
    EXPECT_THAT(refusal, HasSubstr(message));
    EXPECT_LT(refusal.size(), 300u);
    EXPECT_EQ(refusal.find('\n'), std::string::npos);
  }
}

TEST(ParseJson, RefusesValuesThatTakeFarMoreMemoryThanTheirText) {
  for (const std::string value : {"1", "[]", "{}", "\"\"", "[1]", "{\"\":1}", "[[[[[[[[1]]]]]]]]"}) {
    std::string text = "[" + value;
    while (text.size() < 8'000'000) text += "," + value;
    EXPECT_THAT(json_refusal(text + "]"), HasSubstr("values that take more than 33554432 bytes of memory")) << value;
  }
}

TEST(ParseJson, ReadsAnIndexOf100000Tensors) {
  std::string text = "{\"weight_map\": {";
  for (int i = 0; i < 100'000; ++i) {
    text += "\"model.decoder.layers." + std::to_string(i) +
            ".encoder_attention.query_projection.weight\": \"model-00001-of-00100.safetensors\",\n    ";
  }
  EXPECT_GT(text.size(), 10'000'000u);
  EXPECT_EQ(parse_json(text + "\"\": 0}}", "x")["weight_map"].size(), 100'001u);
}

TEST(ParseJson, LimitsStringsNumbersAndSpaceToTwoMebibytes) {
  const std::string most = repeated("1", 2 << 20);
  EXPECT_EQ(parse_json("[\"" + most + "\", \"" + most + "\"]", "x").size(), 2u);
  for (const std::string& text : {"[\"" + most + "1\"]", "[" + most + "1]", "[" + repeated(" ", 3 << 20) + "]",
                                  "[\"" + repeated("\\\"", 2 << 20) + "\"]", "{\"" + most + "1\":1}"}) {
    EXPECT_THAT(json_refusal(text), HasSubstr("a string, number or space of ")) << text.substr(0, 3);
  }
}

TEST(ParseJson, RefusesEveryTruncationAndReadsOrRefusesEveryChangedByte) {
  const std::string text = R"({"a": [1, -2.5e3, true, null], "b": {"c": "\u00e9\n"}})";
  ASSERT_NO_THROW(parse_json(text, "x"));
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(parse_json(text.substr(0, size), "x"), FileError) << size;
  }
  int refused = 0;
  for (std::size_t position = 0; position < text.size(); ++position) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[position] = static_cast<char>(byte);
      try {
        parse_json(changed, "x");
      } catch (const FileError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(ReadJsonObject, ReadsNumbersThatOnlyPythonWrites) {
  const TempFolder folder;
  const JsonObject object = read_json_object(folder.write(
      "config.json", R"({"a": NaN, "b": [0.0, Infinity, -Infinity, {"c": NaN}], "d": "NaN, \"-Infinity\\", "e": 7})"));
  EXPECT_EQ(object.string("d"), "NaN, \"-Infinity\\");
  EXPECT_EQ(object.integer("e"), 7);
  EXPECT_EQ(object.value()["b"].size(), 4u);
  EXPECT_EQ(message_of<ConfigError>([&] { static_cast<void>(object.number("a")); }),
            (folder / "config.json").string() + ": 'a' is \"NaN\", expected a number");
  for (const char* text : {"{\"a\": Nan}", "{\"a\": nullNaN}", "{\"a\": --Infinity}", "{\"a\": NaN"}) {
    EXPECT_THROW(read_json_object(folder.write("bad.json", text)), FileError) << text;
  }
  EXPECT_THROW(parse_json("NaN", "x"), FileError);
}

TEST(ReadJsonObject, NamesTheFileInEveryError) {
  const TempFolder folder;
  const auto file = folder.write("config.json", R"({"d_model": "x"})");
  const JsonObject object = read_json_object(file);
  EXPECT_EQ(object.file(), file.string());
  EXPECT_THROW(object.integer("d_model"), ConfigError);
  EXPECT_THROW(read_json_object(file, 10), FileError);
  EXPECT_THROW(read_json_object(folder / "none.json"), FileError);
  EXPECT_THROW(read_json_object(folder.write("list.json", "[]")), FileError);
  EXPECT_THROW(read_json_object(folder.write("bad.json", "{")), FileError);
}

TEST(Printable, IsOneLineOfAscii) {
  EXPECT_EQ(printable("encoder.layers.0.weight"), "encoder.layers.0.weight");
  EXPECT_EQ(printable(std::string_view("a\n\t\x1b[31m\0\x7f", 10)), R"(a\n\t\u001b[31m\u0000\u007f)");
  EXPECT_EQ(printable("\xc3\xa9 \xff"), R"(\u00e9 \ufffd)");
  EXPECT_EQ(printable("\"\\"), R"(\"\\)");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, CutsLongTextsOff) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable("abc\xc3\xa9", 4), R"(abc\ufffd...)");
  EXPECT_EQ(printable(repeated("x", 1'000'000)).size(), 103u);
}

}  // namespace
}  // namespace encdec

#include "encdec/models/checkpoint/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// The tensor's bytes count up from `first`.
Tensor counting(const Shape& shape, DataType type = DataType::float32, int first = 0) {
  Tensor tensor = Tensor::allocate(shape, type);
  for (std::size_t i = 0; i < tensor.bytes(); ++i)
    tensor.raw()[i] = static_cast<std::byte>(first + static_cast<int>(i));
  return tensor;
}

template <class T>
Tensor of_values(const Shape& shape, DataType type, const std::vector<T>& values) {
  Tensor tensor = Tensor::allocate(shape, type);
  std::memcpy(tensor.raw(), values.data(), tensor.bytes());
  return tensor;
}

std::string text_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()};
}

std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  copy_as_float(tensor, 0, tensor.elements(), values.data());
  return values;
}

// Parses a copy that is exactly as large as the text, so that sanitizers see every read beyond it.
WeightStore parse(const std::string& text) {
  WeightStore store("test");
  const auto copy = std::make_shared<const std::vector<char>>(text.begin(), text.end());
  parse_safetensors(std::as_bytes(std::span(*copy)), copy, "x.safetensors", store);
  return store;
}

// The error of parsing, without the name of the file.
std::string refusal_of(const std::string& text) {
  try {
    parse(text);
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), StartsWith("x.safetensors: "));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
    return std::string(error.what()).substr(15);
  }
  return "no error";
}

std::string entry(std::string_view name, std::string_view type, std::string_view shape, std::string_view offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, type, shape, offsets);
}

std::string header_of(const std::vector<std::string>& entries) {
  return fmt::format("{{{}}}", fmt::join(entries, ","));
}

std::string zeros(std::size_t count) {
  return std::string(count, '\0');
}

TEST(Safetensors, GivesEveryTensorAsItWasWritten) {
  std::vector<NamedTensor> written;
  for (const DataType type :
       {DataType::float32, DataType::float16, DataType::bfloat16, DataType::float64, DataType::int8, DataType::int16,
        DataType::int32, DataType::int64, DataType::uint8, DataType::boolean}) {
    written.push_back({fmt::format("{}.matrix", to_string(type)), counting({3, 5}, type)});
    written.push_back({fmt::format("{}.scalar", to_string(type)), counting({}, type, 7)});
    written.push_back({fmt::format("{}.empty", to_string(type)), counting({2, 0, 3}, type)});
    written.push_back({fmt::format("{}.four", to_string(type)), counting({1, 2, 1, 3}, type, 99)});
  }
  const WeightStore store = parse(safetensors_bytes(written));
  EXPECT_EQ(store.tensors().size(), written.size());
  for (const auto& [name, expected] : written) {
    SCOPED_TRACE(name);
    const Tensor* found = store.find(name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->type(), expected.type());
    EXPECT_EQ(found->shape(), expected.shape());
    EXPECT_EQ(text_of(*found), text_of(expected));
  }
}

TEST(Safetensors, GivesTheValuesOfAllWeightTypes) {
  const auto bytes =
      safetensors_bytes({{"f32", of_values<float>({2}, DataType::float32, {1.5f, -2.25f})},
                         {"f16", of_values<std::uint16_t>({3}, DataType::float16, {0x3c00, 0xc100, 0x0001})},
                         {"bf16", of_values<std::uint16_t>({2}, DataType::bfloat16, {0x3f80, 0xc020})}});
  const WeightStore store = parse(bytes);
  EXPECT_THAT(floats_of(*store.find("f32")), ElementsAre(1.5f, -2.25f));
  EXPECT_THAT(floats_of(*store.find("f16")), ElementsAre(1.0f, -2.5f, 0x1p-24f));
  EXPECT_THAT(floats_of(*store.find("bf16")), ElementsAre(1.0f, -2.5f));
}

TEST(Safetensors, NeedsNoAlignmentOfTheData) {
  const std::string data("\x00\x00\x80\x3f", 4);
  for (std::size_t padding = 0; padding < 8; ++padding) {
    const std::string header = header_of({entry("x", "F32", "[1]", "[0,4]")}) + std::string(padding, ' ');
    EXPECT_THAT(floats_of(*parse(raw_safetensors(header, data)).find("x")), ElementsAre(1.0f)) << padding;
  }
}

TEST(Safetensors, TakesTensorsInAnyOrder) {
  const auto store =
      parse(raw_safetensors(header_of({entry("last", "U8", "[2]", "[3,5]"), entry("middle", "U8", "[]", "[2,3]"),
                                       entry("empty", "F32", "[0]", "[2,2]"), entry("first", "U8", "[2]", "[0,2]")}),
                            "abcde"));
  EXPECT_EQ(text_of(*store.find("first")), "ab");
  EXPECT_EQ(text_of(*store.find("middle")), "c");
  EXPECT_EQ(text_of(*store.find("last")), "de");
}

struct Good {
  std::string header;
  std::size_t data_bytes;
};

TEST(Safetensors, TakesWhatTheFormatAllows) {
  const std::vector<Good> table = {
      {"{}", 0},
      {"{}   ", 0},
      {"{\n}\t\r\n", 0},
      {R"({"__metadata__":{}})", 0},
      {R"({"__metadata__":null})", 0},
      {R"({"__metadata__":{"a":"1","a":"2"}})", 0},
      {R"({"__metadata__":{"format":"pt","é":"\n"}})", 0},
      {R"({"a":{"data_offsets":[0,2],"shape":[2],"dtype":"I8"},"__metadata__":{"format":"pt"}})", 2},
      {R"({"a":{"dtype":"I8","x":1,"shape":[2],"y":[{"dtype":[[]]},null,"s",1.5,-1,{}],"data_offsets":[0,2],"z":{}}})",
       2},
      {header_of({entry("", "U8", "[1]", "[0,1]")}), 1},
      {header_of({entry("a\\u0000b", "U8", "[1]", "[0,1]")}), 1},
      {header_of({entry("a", "F32", "[0]", "[0,0]"), entry("b", "F16", "[0,7]", "[0,0]")}), 0},
      {header_of({entry("a", "F32", "[1]", "[0,4]"), entry("b", "F32", "[0]", "[4,4]")}), 4},
      {header_of({entry("a", "F32", "[100000000000,0]", "[0,0]")}), 0},
  };
  for (const Good& row : table) {
    EXPECT_EQ(refusal_of(raw_safetensors(row.header, zeros(row.data_bytes))), "no error") << row.header;
  }
}

TEST(Safetensors, GivesWhatTensorCannotExpressAsBytes) {
  struct Row {
    const char* type;
    const char* shape;
    int bytes;
  };
  const std::vector<Row> table = {{"U16", "[2,2]", 8},       {"U32", "[2]", 8},         {"U64", "[]", 8},
                                  {"C64", "[3]", 24},        {"F8_E4M3", "[3]", 3},     {"F8_E5M2", "[3]", 3},
                                  {"F8_E8M0", "[3]", 3},     {"F8_E4M3FNUZ", "[3]", 3}, {"F8_E5M2FNUZ", "[3]", 3},
                                  {"F6_E2M3", "[2,2]", 3},   {"F6_E3M2", "[4]", 3},     {"F4", "[6]", 3},
                                  {"F32", "[1,1,1,1,2]", 8}, {"I8", "[2,1,3,1,1]", 6},  {"F4", "[1,2,1,1,3]", 3}};
  for (const Row& row : table) {
    SCOPED_TRACE(fmt::format("{} {}", row.type, row.shape));
    const std::string data = std::string(static_cast<std::size_t>(row.bytes), 'x');
    const auto store =
        parse(raw_safetensors(header_of({entry("a", row.type, row.shape, fmt::format("[0,{}]", row.bytes))}), data));
    EXPECT_EQ(store.find("a")->type(), DataType::uint8);
    EXPECT_EQ(store.find("a")->shape(), Shape{row.bytes});
    EXPECT_EQ(text_of(*store.find("a")), data);
  }
}

TEST(Safetensors, AddsNothingWhenItRefuses) {
  WeightStore store("test");
  const std::string text =
      raw_safetensors(header_of({entry("a", "U8", "[1]", "[0,1]"), entry("b", "U8", "[1]", "[1,2]")}), "abc");
  EXPECT_THROW(parse_safetensors(std::as_bytes(std::span(text)), nullptr, "x", store), FileError);
  EXPECT_TRUE(store.tensors().empty());
}

struct Damaged {
  std::string header;
  std::size_t data_bytes;
  std::string expected;  // how the error begins, without the file's name
};

std::vector<Damaged> damaged_headers() {
  const std::string a = entry("a", "F32", "[2]", "[0,8]");
  std::vector<Damaged> table = {
      {"", 0, "the header begins with '', expected '{'"},
      {" {}", 0, "the header begins with ' {}', expected '{'"},
      {"[]", 0, "the header begins with '[]', expected '{'"},
      {"\xEF\xBB\xBF{}", 0, R"(the header begins with '\ufeff{}', expected '{')"},
      {zeros(64), 0, R"(the header begins with '\u0000\u0000)"},
      {"{", 0, "not valid JSON: parse error at line 1, column 2"},
      {"{}x", 0, "not valid JSON: parse error at line 1, column 3"},
      {"{}{}", 0, "not valid JSON: parse error at line 1, column 3"},
      {"{}" + zeros(6), 0, "not valid JSON: byte 2 is zero"},
      {"{" + a + ",}", 8, "not valid JSON: parse error"},
      {"{\"\xff\":1}", 0, "not valid JSON: parse error at line 1, column 3"},
      {"{\"a\":1e999}", 0, "not valid JSON: number overflow"},

      // The name of a tensor, and what it stands for.
      {header_of({a, a}), 8, "tensor 'a' is there twice, expected it once"},
      {header_of({a, entry("\\u0061", "F32", "[1]", "[8,12]")}), 12, "tensor 'a' is there twice, expected it once"},
      {header_of({entry("a", "U8", "[4]", "[0,4]"), entry("a", "F32", "[1]", "[0,4]")}), 4,
       "tensor 'a' is there twice"},
      {header_of(
           {entry("b", "U8", "[1]", "[1,2]"), entry("a", "U8", "[1]", "[0,1]"), entry("b", "U8", "[1]", "[2,3]")}),
       3, "tensor 'b' is there twice"},
      {R"({"a":1})", 0, "tensor 'a': 1, expected an object with dtype, shape and data_offsets"},
      {R"({"a":-1})", 0, "tensor 'a': -1, expected an object with"},
      {R"({"a":1.50})", 0, "tensor 'a': 1.50, expected an object with"},
      {R"({"a":null})", 0, "tensor 'a': null, expected an object with"},
      {R"({"a":true})", 0, "tensor 'a': true, expected an object with"},
      {R"({"a":"F32"})", 0, "tensor 'a': \"F32\", expected an object with"},
      {R"({"a":["F32",[2],[0,8]]})", 8, "tensor 'a': a list, expected an object with"},
      {R"({"a\n\u001b":1})", 0, R"(tensor 'a\n\u001b': 1, expected)"},
      {R"({"a":{}})", 0, "tensor 'a': dtype is missing, expected dtype, shape and data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", 8, "tensor 'a': data_offsets is missing, expected"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", 8, "tensor 'a': shape is missing, expected"},
      {R"({"a":{"shape":[2],"data_offsets":[0,8]}})", 8, "tensor 'a': dtype is missing, expected"},
      {R"({"a":{"Dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, "tensor 'a': dtype is missing, expected"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8,
       "tensor 'a': the key 'dtype' is there twice, expected it once"},
      {R"({"a":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}})", 8,
       "tensor 'a': the key 'shape' is there twice, expected it once"},
      {R"({"a":{"data_offsets":[0,4],"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8,
       "tensor 'a': the key 'data_offsets' is there twice, expected it once"},
      {R"({"a":{"x":)" + std::string(64, '['), 0, "tensor 'a': nested deeper than 64 levels"},

      // The type.
      {header_of({entry("a", "F33", "[2]", "[0,8]")}), 8, "tensor 'a': dtype 'F33', expected one of the format: F32,"},
      {header_of({entry("a", "f32", "[2]", "[0,8]")}), 8, "tensor 'a': dtype 'f32', expected one of the format"},
      {header_of({entry("a", "", "[2]", "[0,8]")}), 8, "tensor 'a': dtype '', expected one of the format"},
      {header_of({entry("a", "F32\\n", "[2]", "[0,8]")}), 8, R"(tensor 'a': dtype 'F32\n', expected one of)"},
      {header_of({entry("a", std::string(1000, 'F'), "[2]", "[0,8]")}), 8,
       "tensor 'a': dtype '" + std::string(100, 'F') + "...', expected one of"},
      {R"({"a":{"dtype":1,"shape":[2],"data_offsets":[0,8]}})", 8, "tensor 'a': dtype 1, expected a string"},
      {R"({"a":{"dtype":null,"shape":[2],"data_offsets":[0,8]}})", 8, "tensor 'a': dtype null, expected a string"},
      {R"({"a":{"dtype":["F32"],"shape":[2],"data_offsets":[0,8]}})", 8, "tensor 'a': dtype a list, expected a string"},

      // The shape.
      {header_of({entry("a", "F32", "2", "[0,8]")}), 8, "tensor 'a': shape 2, expected a list of sizes"},
      {header_of({entry("a", "F32", "{}", "[0,8]")}), 8, "tensor 'a': shape an object, expected a list of sizes"},
      {header_of({entry("a", "F32", "null", "[0,8]")}), 8, "tensor 'a': shape null, expected a list of sizes"},
      {header_of({entry("a", "F32", "[-2]", "[0,8]")}), 8,
       "tensor 'a': shape with -2, expected at most 32 sizes from 0"},
      {header_of({entry("a", "F32", "[-0]", "[0,0]")}), 0, "tensor 'a': shape with 0, expected at most 32 sizes"},
      {header_of({entry("a", "F32", "[2.0]", "[0,8]")}), 8, "tensor 'a': shape with 2.0, expected at most 32 sizes"},
      {header_of({entry("a", "F32", "[\\\"2\\\"]", "[0,8]")}), 8, "not valid JSON"},
      {header_of({entry("a", "F32", "[\"2\"]", "[0,8]")}), 8,
       "tensor 'a': shape with \"2\", expected at most 32 sizes"},
      {header_of({entry("a", "F32", "[[2]]", "[0,8]")}), 8, "tensor 'a': shape with a list, expected at most 32 sizes"},
      {header_of({entry("a", "F32", "[{}]", "[0,8]")}), 8, "tensor 'a': shape with an object, expected at most 32"},
      {header_of({entry("a", "F32", "[9223372036854775808,0]", "[0,0]")}), 0,
       "tensor 'a': shape with 9223372036854775808, expected at most 32 sizes from 0 to 9223372036854775807"},
      {header_of({entry("a", "F32", "[18446744073709551616]", "[0,0]")}), 0,
       "tensor 'a': shape with 18446744073709551616"},
      {header_of({entry("a", "U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]")}), 1,
       "tensor 'a': shape with 1, expected at most 32 sizes"},

      // The size: of the shape, and of the range.
      {header_of({entry("a", "F32", "[2]", "[0,4]")}), 4,
       "tensor 'a': 4 bytes at data_offsets [0, 4], expected 8 bytes for F32 of shape [2]"},
      {header_of({entry("a", "F64", "[4]", "[0,16]")}), 16,
       "tensor 'a': 16 bytes at data_offsets [0, 16], expected 32 bytes for F64 of shape [4]"},
      {header_of({entry("a", "BF16", "[2,3]", "[0,24]")}), 24,
       "tensor 'a': 24 bytes at data_offsets [0, 24], expected 12 bytes for BF16 of shape [2, 3]"},
      {header_of({entry("a", "F32", "[0]", "[0,4]")}), 4,
       "tensor 'a': 4 bytes at data_offsets [0, 4], expected 0 bytes for F32 of shape [0]"},
      {header_of({entry("a", "F32", "[]", "[0,0]")}), 0,
       "tensor 'a': 0 bytes at data_offsets [0, 0], expected 4 bytes for F32 of shape []"},
      {header_of({entry("a", "F4", "[3]", "[0,1]")}), 1,
       "tensor 'a': 1 bytes at data_offsets [0, 1], expected 12 bits for F4 of shape [3]"},
      {header_of({entry("a", "U8", "[4294967296,4294967296]", "[0,0]")}), 0,
       "tensor 'a': U8 of shape [4294967296, 4294967296], expected fewer than 2^64 bits"},
      {header_of({entry("a", "U8", "[9223372036854775807,2]", "[0,0]")}), 0, "tensor 'a': U8 of shape"},
      {header_of({entry("a", "U8", "[4611686018427387904,4,1]", "[0,0]")}), 0, "tensor 'a': U8 of shape"},
      {header_of({entry("a", "F32", "[4611686018427387904]", "[0,0]")}), 0,
       "tensor 'a': F32 of shape [4611686018427387904], expected fewer than 2^64 bits"},
      {header_of({entry("a", "F32", "[576460752303423488]", "[0,0]")}), 0, "tensor 'a': F32 of shape"},
      {header_of({entry("a", "U8", "[4294967296,0,4294967296]", "[0,0]")}), 0, "tensor 'a': U8 of shape"},
      {header_of({entry("a", "F32", "[2,9223372036854775807,0]", "[0,0]")}), 0, "tensor 'a': F32 of shape"},
      {header_of({entry("a", "F32", "[9223372036854775807,0]", "[0,0]")}), 0, "tensor 'a': F32 of shape"},

      // The range.
      {header_of({entry("a", "F32", "[2]", "[8,0]")}), 8,
       "tensor 'a': data_offsets [8, 0], expected a begin and an end"},
      {header_of({entry("a", "F32", "[2]", "[]")}), 8, "tensor 'a': data_offsets [], expected a begin and an end"},
      {header_of({entry("a", "F32", "[2]", "[8]")}), 8, "tensor 'a': data_offsets [8], expected a begin and an end"},
      {header_of({entry("a", "F32", "[2]", "[0,8,8]")}), 8, "tensor 'a': data_offsets with 8, expected two offsets"},
      {header_of({entry("a", "F32", "[2]", "[-8,0]")}), 8, "tensor 'a': data_offsets with -8, expected two offsets"},
      {header_of({entry("a", "F32", "[2]", "[0,8.0]")}), 8, "tensor 'a': data_offsets with 8.0, expected two offsets"},
      {header_of({entry("a", "F32", "[2]", "[0,1e1]")}), 8, "tensor 'a': data_offsets with 1e1, expected two offsets"},
      {header_of({entry("a", "F32", "[2]", "[null,8]")}), 8, "tensor 'a': data_offsets with null, expected two"},
      {header_of({entry("a", "F32", "[2]", "[[0,8]]")}), 8, "tensor 'a': data_offsets with a list, expected two"},
      {header_of({entry("a", "F32", "[2]", "8")}), 8, "tensor 'a': data_offsets 8, expected a list of two offsets"},
      {header_of({entry("a", "F32", "[2]", "{}")}), 8, "tensor 'a': data_offsets an object, expected a list of two"},
      {header_of({entry("a", "F32", "[2]", "[18446744073709551608,18446744073709551616]")}), 8,
       "tensor 'a': data_offsets with 18446744073709551616"},
      {header_of({entry("a", "F32", "[2]", "[18446744073709551607,18446744073709551615]")}), 8,
       "tensor 'a': data begins at byte 18446744073709551607, expected 0: no holes, no overlaps"},

      // The ranges together.
      {header_of({a}), 7, "tensor 'a': data ends at byte 8, expected at most 7: the file is truncated"},
      {header_of({a}), 0, "tensor 'a': data ends at byte 8, expected at most 0: the file is truncated"},
      {header_of({a}), 9, "1 bytes after the last tensor, expected none"},
      {"{}", 5, "5 bytes after the last tensor, expected none"},
      {header_of({entry("a", "F32", "[2]", "[4,12]")}), 12,
       "tensor 'a': data begins at byte 4, expected 0: no holes, no overlaps"},
      {header_of({a, entry("b", "U8", "[1]", "[9,10]")}), 10,
       "tensor 'b': data begins at byte 9, expected 8: no holes"},
      {header_of({entry("b", "U8", "[1]", "[7,8]"), a}), 8, "tensor 'b': data begins at byte 7, expected 8: no holes"},
      {header_of({a, entry("b", "F32", "[2]", "[0,8]")}), 8, "tensor 'b': data begins at byte 0, expected 8: no holes"},
      {header_of({a, entry("b", "F32", "[0]", "[4,4]")}), 8, "tensor 'b': data begins at byte 4, expected 8: no holes"},
      {header_of({a, entry("b", "F32", "[0]", "[12,12]")}), 8,
       "tensor 'b': data begins at byte 12, expected 8: no holes"},
      {header_of({a, entry("b", "U8", "[1]", "[8,9]")}), 8,
       "tensor 'b': data ends at byte 9, expected at most 8: the file is truncated"},

      // The metadata.
      {R"({"__metadata__":1})", 0, "__metadata__ with 1, expected an object of strings"},
      {R"({"__metadata__":[]})", 0, "__metadata__ with a list, expected an object of strings"},
      {R"({"__metadata__":{"a":1}})", 0, "__metadata__ with 1, expected an object of strings"},
      {R"({"__metadata__":{"a":{}}})", 0, "__metadata__ with an object, expected an object of strings"},
      {R"({"__metadata__":{"a":[]}})", 0, "__metadata__ with a list, expected an object of strings"},
      {R"({"__metadata__":{"a":null}})", 0, "__metadata__ with null, expected an object of strings"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "the key '__metadata__' is there twice, expected it once"},
      {header_of({entry("__metadata__", "U8", "[1]", "[0,1]")}), 1, "__metadata__ with a list, expected an object of"},
  };
  // Ten tensors in one place: the message does not depend on the order of the header.
  for (const bool reversed : {false, true}) {
    std::vector<std::string> entries;
    for (int i = 0; i < 10; ++i) entries.push_back(entry(fmt::format("t{}", i), "U8", "[1]", "[0,1]"));
    if (reversed) std::ranges::reverse(entries);
    table.push_back({header_of(entries), 1, "tensor 't1': data begins at byte 0, expected 1: no holes, no overlaps"});
  }
  return table;
}

TEST(Safetensors, RefusesDamagedHeaders) {
  for (const Damaged& row : damaged_headers()) {
    SCOPED_TRACE(row.header.substr(0, 200));
    const std::string refusal = refusal_of(raw_safetensors(row.header, zeros(row.data_bytes)));
    EXPECT_THAT(refusal, StartsWith(row.expected));
    EXPECT_LT(refusal.size(), 400u);
  }
}

TEST(Safetensors, RefusesALengthThatDoesNotFitTheFile) {
  const auto with_length = [](std::uint64_t length, const std::string& rest) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
    return bytes + rest;
  };
  EXPECT_EQ(refusal_of(""), "0 bytes, expected a header of at least 8");
  EXPECT_EQ(refusal_of("1234567"), "7 bytes, expected a header of at least 8");
  EXPECT_EQ(refusal_of(with_length(3, "{}")), "a header of 3 bytes, expected at most 2 in a file of 10");
  EXPECT_EQ(refusal_of(with_length(100'000'001, "{}")),
            "a header of 100000001 bytes, expected at most 2 in a file of 10");
  for (const std::uint64_t length : {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 8, std::uint64_t{1} << 63}) {
    EXPECT_EQ(refusal_of(with_length(length, "{}")),
              fmt::format("a header of {} bytes, expected at most 2 in a file of 10", length));
  }
}

TEST(Safetensors, LimitsTheHeader) {
  // A file with holes: it takes no room on the disk, and the header is not read.
  const TempFolder folder;
  const auto path = folder.write("model.safetensors", raw_safetensors("{}", ""));
  std::filesystem::resize_file(path, 300'000'000);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file << std::string("\x01\xe1\xf5\x05\0\0\0\0", 8);  // 100,000,001
  }
  try {
    read_safetensors(path);
    FAIL() << "a header of more than 100,000,000 bytes was taken";
  } catch (const FileError& error) {
    EXPECT_EQ(error.what(),
              path.string() + ": a header of 100000001 bytes, expected at most 100000000 in a file of 300000000");
  }
}

TEST(Safetensors, ExplainsPointersOfGitLfs) {
  EXPECT_EQ(refusal_of("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
            "a pointer of Git LFS, expected the file itself: git lfs pull gets it");
}

TEST(Safetensors, RefusesHugeListsWithoutStoringThem) {
  std::string header = R"({"a":{"dtype":"U8","shape":[)";
  for (int i = 0; i < 1'000'000; ++i) header += "1,";
  EXPECT_THAT(refusal_of(raw_safetensors(header, "")),
              StartsWith("tensor 'a': shape with 1, expected at most 32 sizes"));
}

TEST(Safetensors, TakesThousandsOfTensors) {
  std::vector<std::string> entries;
  for (int i = 0; i < 20'000; ++i) {
    entries.push_back(
        entry(fmt::format("encoder.layers.{}.weight", i), "U8", "[1,1]", fmt::format("[{},{}]", i, i + 1)));
  }
  const auto store = parse(raw_safetensors(header_of(entries), zeros(20'000)));
  EXPECT_EQ(store.tensors().size(), 20'000u);
}

// A small file with something of everything.
std::string small_file() {
  return raw_safetensors(R"({"__metadata__":{"format":"pt"},)" +
                             header_of({entry("w", "F16", "[2,3]", "[0,12]"), entry("b", "F32", "[]", "[12,16]"),
                                        entry("e", "I64", "[0]", "[12,12]")})
                                 .substr(1) +
                             " ",
                         "0123456789abcdef");
}

// Reads every byte of every tensor.
void read_all(const WeightStore& store) {
  for (const auto& [name, tensor] : store.tensors()) {
    int sum = 0;
    for (const char byte : text_of(tensor)) sum += byte;
    EXPECT_LE(sum, 16 * 'f');
    if (is_weight_type(tensor.type())) floats_of(tensor);
  }
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string text = small_file();
  ASSERT_EQ(parse(text).tensors().size(), 3u);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(refusal_of(text.substr(0, size)), "no error") << size;
  }
}

TEST(Safetensors, GivesAnErrorOrACleanLoadForEveryChangedByteOfTheHeader) {
  const std::string text = small_file();
  int refused = 0, loaded = 0;
  for (std::size_t position = 0; position < text.size() - 16; ++position) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[position] = static_cast<char>(byte);
      try {
        read_all(parse(changed));
        ++loaded;
      } catch (const FileError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 30'000);
  EXPECT_GT(loaded, 1'000);  // other letters of a name, another F in BF16, ...
}

class SafetensorsFolder : public testing::Test {
 protected:
  void write_index(std::string_view map) const {
    folder_.write("model.safetensors.index.json",
                  fmt::format(R"({{"metadata":{{"total_size":8}},"weight_map":{}}})", map));
  }
  // The error of reading the folder.
  std::string refusal() const {
    try {
      read_safetensors(folder_.path());
    } catch (const FileError& error) {
      return error.what();
    }
    return "no error";
  }
  std::string path(std::string_view name) const { return (folder_ / name).string(); }

  const TempFolder folder_;
};

TEST_F(SafetensorsFolder, MayHoldOneFile) {
  write_safetensors(folder_ / "model.safetensors", {{"a", counting({2})}});
  const auto store = read_safetensors(folder_.path());
  EXPECT_EQ(store->tensors().size(), 1u);
  EXPECT_EQ(store->origin(), path("model.safetensors"));
}

TEST_F(SafetensorsFolder, MayBeOneFileUnderAnyName) {
  write_safetensors(folder_ / "expected.st", {{"a", counting({2})}});
  EXPECT_NE(read_safetensors(folder_ / "expected.st")->find("a"), nullptr);
}

TEST_F(SafetensorsFolder, MayHoldShards) {
  write_safetensors(folder_ / "model-00001-of-00002.safetensors", {{"a", counting({2}, DataType::int8, 1)}});
  write_safetensors(folder_ / "model-00002-of-00002.safetensors",
                    {{"b", counting({2}, DataType::int8, 3)}, {"c", counting({1}, DataType::int8, 5)}});
  write_index(R"({"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors",
                  "c":"model-00002-of-00002.safetensors"})");
  for (const auto& given : {folder_.path(), folder_ / "model.safetensors.index.json"}) {
    const auto store = read_safetensors(given);
    EXPECT_EQ(store->origin(), folder_.path().string());
    EXPECT_EQ(store->tensors().size(), 3u);
    EXPECT_EQ(text_of(*store->find("a")), "\1\2");
    EXPECT_EQ(text_of(*store->find("b")), "\3\4");
    EXPECT_EQ(text_of(*store->find("c")), "\5");
  }
}

TEST_F(SafetensorsFolder, MayBeACacheOfLinks) {
  std::filesystem::create_directory(folder_ / "blobs");
  write_safetensors(folder_ / "blobs/1", {{"a", counting({2})}});
  std::filesystem::rename(folder_.write("index", R"({"weight_map":{"a":"shard"}})"), folder_ / "blobs/2");
  std::filesystem::create_symlink("blobs/1", folder_ / "shard");
  std::filesystem::create_symlink("blobs/2", folder_ / "model.safetensors.index.json");
  EXPECT_EQ(read_safetensors(folder_.path())->tensors().size(), 1u);
}

TEST_F(SafetensorsFolder, IsNotLookedForInTheIndexWhenThereIsOneFile) {
  write_safetensors(folder_ / "model.safetensors", {{"a", counting({2})}});
  write_index(R"({"b":"none"})");
  EXPECT_NE(read_safetensors(folder_.path())->find("a"), nullptr);
}

TEST_F(SafetensorsFolder, GivesTensorsThatTheIndexDoesNotListToo) {
  write_safetensors(folder_ / "shard", {{"a", counting({2})}, {"extra", counting({2})}});
  write_index(R"({"a":"shard"})");
  EXPECT_NE(read_safetensors(folder_.path())->find("extra"), nullptr);
}

TEST_F(SafetensorsFolder, TensorsOutliveTheStoreAndTheFile) {
  write_safetensors(folder_ / "shard", {{"a", counting({2}, DataType::int8, 7)}});
  write_index(R"({"a":"shard"})");
  const Tensor tensor = *read_safetensors(folder_.path())->find("a");
  std::filesystem::remove(folder_ / "shard");
  EXPECT_EQ(text_of(tensor), "\7\10");
}

TEST_F(SafetensorsFolder, MustHoldOneFileOrAnIndex) {
  EXPECT_EQ(refusal(), folder_.path().string() +
                           ": neither model.safetensors nor model.safetensors.index.json, expected one of them");
  EXPECT_THROW(read_safetensors(folder_ / "none"), FileError);
  std::filesystem::create_directory(folder_ / "model.safetensors");
  EXPECT_EQ(refusal(), path("model.safetensors") + ": not a regular file");
}

TEST_F(SafetensorsFolder, RefusesNamesThatAreNotBare) {
  write_safetensors(folder_ / "shard", {{"a", counting({2})}});
  for (const char* name : {"",
                           ".",
                           "..",
                           "/",
                           "/etc/passwd",
                           "../shard",
                           "./shard",
                           "x/../shard",
                           "a/../../shard",
                           "shard/",
                           "shard/.",
                           "//shard",
                           "..\\\\shard",
                           "\\\\shard",
                           "C:\\\\shard",
                           "shard\\u0000",
                           "shard\\u0000.safetensors",
                           "\\u0000",
                           "x/shard",
                           "\\u002e\\u002e",
                           "\\u002fetc\\u002fpasswd",
                           "..\\u002fshard"}) {
    SCOPED_TRACE(name);
    write_index(fmt::format(R"({{"a":"{}"}})", name));
    EXPECT_THAT(refusal(), StartsWith(path("model.safetensors.index.json") + ": file name '"));
    EXPECT_THAT(refusal(), HasSubstr("expected a bare name inside the folder"));
  }
}

TEST_F(SafetensorsFolder, TakesNamesOnlyAsTheyStand) {
  write_safetensors(folder_ / "shard", {{"a", counting({2})}});
  for (const char* name : {"~", "$HOME", "*", "Shard", "shard ", " shard", "%2e%2e", "...", "file:shard"}) {
    SCOPED_TRACE(name);
    write_index(fmt::format(R"({{"a":"{}"}})", name));
    EXPECT_EQ(refusal(), path(name) + ": No such file or directory");
  }
}

TEST_F(SafetensorsFolder, RefusesAnIndexThatDoesNotFit) {
  write_safetensors(folder_ / "one", {{"a", counting({2})}, {"b", counting({2})}});
  write_safetensors(folder_ / "two", {{"b", counting({2})}, {"c", counting({2})}});
  folder_.write("bad", "xx");
  std::filesystem::create_directory(folder_ / "folder");
  const std::string index = path("model.safetensors.index.json");
  const std::vector<std::pair<std::string, std::string>> table = {
      {R"({"a":"one","c":"one"})", path("one") + ": tensor 'c' is missing, expected it here as " + index + " says"},
      {R"({"a":"one","c":"two"})",
       path("two") + ": tensor 'b' is in another file of " + index + " too, expected it once"},
      {R"({"a":"one","b":"two"})",
       path("two") + ": tensor 'b' is in another file of " + index + " too, expected it once"},
      {R"({"a":"one","x":"three"})", path("three") + ": No such file or directory"},
      {R"({"a":"folder"})", path("folder") + ": not a regular file"},
      {R"({"a":"bad"})", path("bad") + ": 2 bytes, expected a header of at least 8"},
      {R"({"a":1})", index + ": tensor 'a': number, expected a file name"},
      {R"({"a":null})", index + ": tensor 'a': null, expected a file name"},
      {R"({"a":["one"]})", index + ": tensor 'a': array, expected a file name"},
      {R"({"a":"one","a":"two"})", index + ": the key 'a' is there twice, expected it once in an object"},
      {"[]", index + ": 'weight_map' is missing, expected an object of file names"},
      {"null", index + ": 'weight_map' is missing, expected an object of file names"},
  };
  for (const auto& [map, expected] : table) {
    SCOPED_TRACE(map);
    write_index(map);
    EXPECT_EQ(refusal(), expected);
  }
  folder_.write("model.safetensors.index.json", "[]");
  EXPECT_EQ(refusal(), index + ": array of 0, expected a JSON object");
  folder_.write("model.safetensors.index.json", "");
  EXPECT_THAT(refusal(), StartsWith(index + ": not valid JSON: parse error at line 1, column 1"));
}

TEST_F(SafetensorsFolder, RefusesEveryTruncationOfAnIndex) {
  write_safetensors(folder_ / "one", {{"a", counting({2})}});
  const std::string text = R"({"weight_map":{"a":"one"}})";
  folder_.write("model.safetensors.index.json", text);
  ASSERT_EQ(refusal(), "no error");
  for (std::size_t size = 0; size < text.size(); ++size) {
    folder_.write("model.safetensors.index.json", text.substr(0, size));
    EXPECT_THAT(refusal(), StartsWith(path("model.safetensors.index.json") + ": not valid JSON: ")) << size;
  }
}

}  // namespace
}  // namespace encdec

#include "encdec/models/checkpoint/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/checkpoint/golden_weights.h"
#include "tests/models/checkpoint/safetensors_parsing.h"
#include "tests/support/safetensors_writer.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(Safetensors, ReadsEveryTensorAsItWasWritten) {
  std::vector<NamedTensor> written;
  for (const DataType type :
       {DataType::float32, DataType::float16, DataType::bfloat16, DataType::float64, DataType::int8, DataType::int16,
        DataType::int32, DataType::int64, DataType::uint8, DataType::boolean}) {
    written.push_back({fmt::format("{}.matrix", to_string(type)), counting({3, 5}, type)});
    written.push_back({fmt::format("{}.scalar", to_string(type)), counting({}, type, 7)});
    written.push_back({fmt::format("{}.empty", to_string(type)), counting({2, 0, 3}, type)});
    written.push_back({fmt::format("{}.four", to_string(type)), counting({1, 2, 1, 3}, type, 99)});
  }
  const WeightStore store = safetensors_of(safetensors_bytes(written));
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

TEST(Safetensors, NeedsNoAlignmentOfTheData) {
  const std::string data("\x00\x00\x80\x3f", 4);
  for (std::size_t padding = 0; padding < 8; ++padding) {
    const std::string header = header_of({entry("x", "F32", "[1]", "[0,4]")}) + std::string(padding, ' ');
    EXPECT_THAT(floats_of(*safetensors_of(raw_safetensors(header, data)).find("x")), ElementsAre(1.0f)) << padding;
  }
}

TEST(Safetensors, AcceptsTensorsInAnyOrder) {
  const auto store = safetensors_of(
      raw_safetensors(header_of({entry("last", "U8", "[2]", "[3,5]"), entry("middle", "U8", "[]", "[2,3]"),
                                 entry("empty", "F32", "[0]", "[2,2]"), entry("first", "U8", "[2]", "[0,2]")}),
                      "abcde"));
  EXPECT_EQ(text_of(*store.find("first")), "ab");
  EXPECT_EQ(text_of(*store.find("middle")), "c");
  EXPECT_EQ(text_of(*store.find("last")), "de");
}

TEST(Safetensors, AcceptsWhatTheFormatAllows) {
  const std::pair<std::string, std::size_t> kFiles[] = {
      // header, bytes of data

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
  for (const auto& [header, bytes] : kFiles) {
    EXPECT_EQ(safetensors_refusal(raw_safetensors(header, zeros(bytes))), "no exception") << header;
  }
}

TEST(Safetensors, ReturnsUnsupportedTypesAsBytes) {
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
    const auto store = safetensors_of(
        raw_safetensors(header_of({entry("a", row.type, row.shape, fmt::format("[0,{}]", row.bytes))}), data));
    EXPECT_EQ(store.find("a")->type(), DataType::uint8);
    EXPECT_EQ(store.find("a")->shape(), Shape{row.bytes});
    EXPECT_EQ(text_of(*store.find("a")), data);
  }
}

}  // namespace
}  // namespace encdec

// Tests files that break a rule of the format or are damaged.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/models/checkpoint/golden_weights.h"
#include "tests/models/checkpoint/safetensors_parsing.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Damaged {
  std::string header;
  std::size_t data_bytes;
  std::string expected;  // beginning of the error text, without the file's name
};

std::string only_a(std::string_view type, std::string_view shape, std::string_view offsets) {
  return header_of({entry("a", type, shape, offsets)});
}

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
      {"{}" + zeros(6), 0, "not valid JSON: byte 2 is NUL"},
      {"{" + a + ",}", 8, "not valid JSON: parse error"},
      {"{\"\xff\":1}", 0, "not valid JSON: parse error at line 1, column 3"},
      {"{\"a\":1e999}", 0, "not valid JSON: number overflow"},

      // Errors in names and entries of tensors.
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

      // Errors in dtype.
      {only_a("F33", "[2]", "[0,8]"), 8, "tensor 'a': dtype 'F33', expected one of the format: F32,"},
      {only_a("f32", "[2]", "[0,8]"), 8, "tensor 'a': dtype 'f32', expected one of the format"},
      {only_a("", "[2]", "[0,8]"), 8, "tensor 'a': dtype '', expected one of the format"},
      {only_a("F32\\n", "[2]", "[0,8]"), 8, R"(tensor 'a': dtype 'F32\n', expected one of)"},
      {only_a(std::string(1000, 'F'), "[2]", "[0,8]"), 8,
       "tensor 'a': dtype '" + std::string(100, 'F') + "...', expected one of"},
      {R"({"a":{"dtype":1,"shape":[2],"data_offsets":[0,8]}})", 8, "tensor 'a': dtype 1, expected a string"},
      {R"({"a":{"dtype":null,"shape":[2],"data_offsets":[0,8]}})", 8, "tensor 'a': dtype null, expected a string"},
      {R"({"a":{"dtype":["F32"],"shape":[2],"data_offsets":[0,8]}})", 8, "tensor 'a': dtype a list, expected a string"},

      // Errors in shape.
      {only_a("F32", "2", "[0,8]"), 8, "tensor 'a': shape 2, expected a list of sizes"},
      {only_a("F32", "{}", "[0,8]"), 8, "tensor 'a': shape an object, expected a list of sizes"},
      {only_a("F32", "null", "[0,8]"), 8, "tensor 'a': shape null, expected a list of sizes"},
      {only_a("F32", "[-2]", "[0,8]"), 8, "tensor 'a': shape with -2, expected at most 32 sizes from 0"},
      {only_a("F32", "[-0]", "[0,0]"), 0, "tensor 'a': shape with 0, expected at most 32 sizes"},
      {only_a("F32", "[2.0]", "[0,8]"), 8, "tensor 'a': shape with 2.0, expected at most 32 sizes"},
      {only_a("F32", "[\\\"2\\\"]", "[0,8]"), 8, "not valid JSON"},
      {only_a("F32", "[\"2\"]", "[0,8]"), 8, "tensor 'a': shape with \"2\", expected at most 32 sizes"},
      {only_a("F32", "[[2]]", "[0,8]"), 8, "tensor 'a': shape with a list, expected at most 32 sizes"},
      {only_a("F32", "[{}]", "[0,8]"), 8, "tensor 'a': shape with an object, expected at most 32"},
      {only_a("F32", "[9223372036854775808,0]", "[0,0]"), 0,
       "tensor 'a': shape with 9223372036854775808, expected at most 32 sizes from 0 to 9223372036854775807"},
      {only_a("F32", "[18446744073709551616]", "[0,0]"), 0, "tensor 'a': shape with 18446744073709551616"},
      {only_a("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]"), 1,
       "tensor 'a': shape with 1, expected at most 32 sizes"},

      // Sizes that differ between shape and data_offsets.
      {only_a("F32", "[2]", "[0,4]"), 4,
       "tensor 'a': 4 bytes at data_offsets [0, 4], expected 8 bytes for F32 of shape [2]"},
      {only_a("F64", "[4]", "[0,16]"), 16,
       "tensor 'a': 16 bytes at data_offsets [0, 16], expected 32 bytes for F64 of shape [4]"},
      {only_a("BF16", "[2,3]", "[0,24]"), 24,
       "tensor 'a': 24 bytes at data_offsets [0, 24], expected 12 bytes for BF16 of shape [2, 3]"},
      {only_a("F32", "[0]", "[0,4]"), 4,
       "tensor 'a': 4 bytes at data_offsets [0, 4], expected 0 bytes for F32 of shape [0]"},
      {only_a("F32", "[]", "[0,0]"), 0,
       "tensor 'a': 0 bytes at data_offsets [0, 0], expected 4 bytes for F32 of shape []"},
      {only_a("F4", "[3]", "[0,1]"), 1,
       "tensor 'a': 1 bytes at data_offsets [0, 1], expected 12 bits for F4 of shape [3]"},
      {only_a("U8", "[4294967296,4294967296]", "[0,0]"), 0,
       "tensor 'a': U8 of shape [4294967296, 4294967296], expected fewer than 2^64 bits"},
      {only_a("U8", "[9223372036854775807,2]", "[0,0]"), 0, "tensor 'a': U8 of shape"},
      {only_a("U8", "[4611686018427387904,4,1]", "[0,0]"), 0, "tensor 'a': U8 of shape"},
      {only_a("F32", "[4611686018427387904]", "[0,0]"), 0,
       "tensor 'a': F32 of shape [4611686018427387904], expected fewer than 2^64 bits"},
      {only_a("F32", "[576460752303423488]", "[0,0]"), 0, "tensor 'a': F32 of shape"},
      {only_a("U8", "[4294967296,0,4294967296]", "[0,0]"), 0, "tensor 'a': U8 of shape"},
      {only_a("F32", "[2,9223372036854775807,0]", "[0,0]"), 0, "tensor 'a': F32 of shape"},
      {only_a("F32", "[9223372036854775807,0]", "[0,0]"), 0, "tensor 'a': F32 of shape"},

      // Errors in data_offsets.
      {only_a("F32", "[2]", "[8,0]"), 8, "tensor 'a': data_offsets [8, 0], expected a begin and an end"},
      {only_a("F32", "[2]", "[]"), 8, "tensor 'a': data_offsets [], expected a begin and an end"},
      {only_a("F32", "[2]", "[8]"), 8, "tensor 'a': data_offsets [8], expected a begin and an end"},
      {only_a("F32", "[2]", "[0,8,8]"), 8, "tensor 'a': data_offsets with 8, expected two offsets"},
      {only_a("F32", "[2]", "[-8,0]"), 8, "tensor 'a': data_offsets with -8, expected two offsets"},
      {only_a("F32", "[2]", "[0,8.0]"), 8, "tensor 'a': data_offsets with 8.0, expected two offsets"},
      {only_a("F32", "[2]", "[0,1e1]"), 8, "tensor 'a': data_offsets with 1e1, expected two offsets"},
      {only_a("F32", "[2]", "[null,8]"), 8, "tensor 'a': data_offsets with null, expected two"},
      {only_a("F32", "[2]", "[[0,8]]"), 8, "tensor 'a': data_offsets with a list, expected two"},
      {only_a("F32", "[2]", "8"), 8, "tensor 'a': data_offsets 8, expected a list of two offsets"},
      {only_a("F32", "[2]", "{}"), 8, "tensor 'a': data_offsets an object, expected a list of two"},
      {only_a("F32", "[2]", "[18446744073709551608,18446744073709551616]"), 8,
       "tensor 'a': data_offsets with 18446744073709551616"},
      {only_a("F32", "[2]", "[18446744073709551607,18446744073709551615]"), 8,
       "tensor 'a': data begins at byte 18446744073709551607, expected 0: no holes, no overlaps"},

      // Offsets of several tensors that do not fit together.
      {header_of({a}), 7, "tensor 'a': data ends at byte 8, expected at most 7: the file is truncated"},
      {header_of({a}), 0, "tensor 'a': data ends at byte 8, expected at most 0: the file is truncated"},
      {header_of({a}), 9, "1 bytes after the last tensor, expected none"},
      {"{}", 5, "5 bytes after the last tensor, expected none"},
      {only_a("F32", "[2]", "[4,12]"), 12, "tensor 'a': data begins at byte 4, expected 0: no holes, no overlaps"},
      {header_of({a, entry("b", "U8", "[1]", "[9,10]")}), 10,
       "tensor 'b': data begins at byte 9, expected 8: no holes"},
      {header_of({entry("b", "U8", "[1]", "[7,8]"), a}), 8, "tensor 'b': data begins at byte 7, expected 8: no holes"},
      {header_of({a, entry("b", "F32", "[2]", "[0,8]")}), 8, "tensor 'b': data begins at byte 0, expected 8: no holes"},
      {header_of({a, entry("b", "F32", "[0]", "[4,4]")}), 8, "tensor 'b': data begins at byte 4, expected 8: no holes"},
      {header_of({a, entry("b", "F32", "[0]", "[12,12]")}), 8,
       "tensor 'b': data begins at byte 12, expected 8: no holes"},
      {header_of({a, entry("b", "U8", "[1]", "[8,9]")}), 8,
       "tensor 'b': data ends at byte 9, expected at most 8: the file is truncated"},

      // Errors in the metadata.
      {R"({"__metadata__":1})", 0, "__metadata__ with 1, expected an object of strings"},
      {R"({"__metadata__":[]})", 0, "__metadata__ with a list, expected an object of strings"},
      {R"({"__metadata__":{"a":1}})", 0, "__metadata__ with 1, expected an object of strings"},
      {R"({"__metadata__":{"a":{}}})", 0, "__metadata__ with an object, expected an object of strings"},
      {R"({"__metadata__":{"a":[]}})", 0, "__metadata__ with a list, expected an object of strings"},
      {R"({"__metadata__":{"a":null}})", 0, "__metadata__ with null, expected an object of strings"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "the key '__metadata__' is there twice, expected it once"},
      {header_of({entry("__metadata__", "U8", "[1]", "[0,1]")}), 1, "__metadata__ with a list, expected an object of"},
  };
  // Ten tensors at the same offsets: the message does not depend on their order in the header.
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
    const std::string refusal = safetensors_refusal(raw_safetensors(row.header, zeros(row.data_bytes)));
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
  EXPECT_EQ(safetensors_refusal(""), "0 bytes, expected a header of at least 8");
  EXPECT_EQ(safetensors_refusal("1234567"), "7 bytes, expected a header of at least 8");
  EXPECT_EQ(safetensors_refusal(with_length(3, "{}")), "a header of 3 bytes, expected at most 2 in a file of 10");
  EXPECT_EQ(safetensors_refusal(with_length(100'000'001, "{}")),
            "a header of 100000001 bytes, expected at most 2 in a file of 10");
  for (const std::uint64_t length : {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 8, std::uint64_t{1} << 63}) {
    EXPECT_EQ(safetensors_refusal(with_length(length, "{}")),
              fmt::format("a header of {} bytes, expected at most 2 in a file of 10", length));
  }
}

TEST(Safetensors, LimitsTheHeader) {
  // A sparse file: it needs no disk space, and its header is not read.
  const TempFolder folder;
  const auto path = folder.write("model.safetensors", raw_safetensors("{}", ""));
  std::filesystem::resize_file(path, 300'000'000);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file << std::string("\x01\xe1\xf5\x05\0\0\0\0", 8);  // 100,000,001
  }
  EXPECT_EQ(message_of<FileError>([&] { read_safetensors(path); }),
            path.string() + ": a header of 100000001 bytes, expected at most 100000000 in a file of 300000000");
}

TEST(Safetensors, RecognizesPointersOfGitLfs) {
  EXPECT_EQ(safetensors_refusal("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
            "a Git LFS pointer, expected the file itself: run git lfs pull");
}

TEST(Safetensors, LimitsTensorsAndNames) {
  std::string header = "{";
  for (int i = 0; i <= 1 << 18; ++i)
    header += fmt::format(R"("{}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}},)", i);
  EXPECT_EQ(safetensors_refusal(raw_safetensors(header, "")), "more than 262144 tensors");
  const std::string name(3 << 20, 'a');
  EXPECT_THAT(safetensors_refusal(raw_safetensors("{" + entry(name, "U8", "[0]", "[0,0]") + "}", "")),
              StartsWith("a string, number or space of 3145728 bytes at byte 2, expected at most 2097152"));
}

TEST(Safetensors, RefusesHugeListsWithoutStoringThem) {
  std::string header = R"({"a":{"dtype":"U8","shape":[)";
  for (int i = 0; i < 1'000'000; ++i) header += "1,";
  EXPECT_THAT(safetensors_refusal(raw_safetensors(header, "")),
              StartsWith("tensor 'a': shape with 1, expected at most 32 sizes"));
}

std::string small_file() {
  return raw_safetensors(R"({"__metadata__":{"format":"pt"},)" +
                             header_of({entry("w", "F16", "[2,3]", "[0,12]"), entry("b", "F32", "[]", "[12,16]"),
                                        entry("e", "I64", "[0]", "[12,12]")})
                                 .substr(1) +
                             " ",
                         "0123456789abcdef");
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string text = small_file();
  ASSERT_EQ(safetensors_of(text).tensors().size(), 3u);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(safetensors_refusal(text.substr(0, size)), "no exception") << size;
  }
}

TEST(Safetensors, ReportsAnErrorOrLoadsForEveryChangedByteOfTheHeader) {
  const std::string text = small_file();
  int refused = 0, loaded = 0;
  for (std::size_t position = 0; position < text.size() - 16; ++position) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[position] = static_cast<char>(byte);
      try {
        const WeightStore store = safetensors_of(changed);
        read_all(store);
        for (const auto& [name, tensor] : store.tensors()) {
          if (is_weight_type(tensor.type())) floats_of(tensor);
        }
        ++loaded;
      } catch (const FileError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 30'000);
  EXPECT_GT(loaded, 1'000);  // another letter in a name, another F in BF16, ...
}

}  // namespace
}  // namespace encdec

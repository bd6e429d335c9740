#include "encdec/models/checkpoint/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "tests/models/checkpoint/golden_weights.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"
#include "tests/support/zip_writer.h"

namespace encdec {
namespace {

using testing::HasSubstr;

WeightStore npz_of(const std::string& text) {
  const ExactBytes memory(text);
  return std::move(*parse_npz({memory.bytes(), memory.owner(), "x.npz"}));
}

std::string npz_refusal(const std::string& text) {
  return refusal_of("x.npz: ", [&] { npz_of(text); });
}

std::string array_of(const std::string& header, const std::string& data, char version = 1) {
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

std::string array_refusal(const std::string& array) {
  return npz_refusal(zip_bytes({{"x.npy", array}}));
}

std::string npy_dict(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

TEST(Npz, ReadsWhatNumPySaved) {
  for (const std::string name : {"stored", "deflated", "version_3"}) {
    SCOPED_TRACE(name);
    expect_golden(npz_of(read_golden("npz/" + name + ".npz")), "npz/" + name + ".npz");
  }
}

TEST(Npz, StoredArraysAreViewsOfTheFile) {
  const ExactBytes memory(read_golden("npz/stored.npz"));
  const auto store = parse_npz({memory.bytes(), memory.owner(), "x.npz"});
  const std::byte* begin = memory.bytes().data();
  const std::byte* end = begin + memory.bytes().size();
  EXPECT_TRUE(store->find("f4")->raw() >= begin && store->find("f4")->raw() < end);
  EXPECT_FALSE(store->find("columns_first")->raw() >= begin && store->find("columns_first")->raw() < end);
}

TEST(Npz, RefusesTypesOtherThanPlainNumbers) {
  for (const std::string descr : {"|O", "|S4", "<U2", "|V8", "<M8[ns]", "<f3", "f4", "", "<i1"}) {
    EXPECT_THAT(array_refusal(array_of(npy_dict(descr, "(1,)"), "0123")), HasSubstr("type '" + descr + "'"));
  }
  EXPECT_THAT(array_refusal(array_of(npy_dict(">f4", "(1,)"), "0123")), HasSubstr("big-endian type '>f4'"));
  EXPECT_THAT(array_refusal(array_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "0123")),
              HasSubstr("expected a string"));
}

TEST(Npz, RefusesDataWhoseSizeDiffersFromItsShape) {
  for (const std::string shape : {"(2,)", "(0,)", "(4611686018427387904, 4)", "(4294967296, 4294967296)",
                                  "(9223372036854775808, 2)", "(18446744073709551615,)", "(1, 1, 3)"}) {
    EXPECT_THAT(array_refusal(array_of(npy_dict("<f4", shape), "0123")), HasSubstr("4 bytes of data")) << shape;
  }
  EXPECT_THAT(array_refusal(array_of(npy_dict("<f4", "()"), "01234567")), HasSubstr("8 bytes of data"));
}

TEST(Npz, InflatesNoDataBeforeAllHeadersFit) {
  const std::string array = array_of(npy_dict("<f4", "(2,)"), std::string(100'000, '\0'));
  ZipWriterEntry entry{"x.npy", deflated(array)};
  entry.method = 8;
  entry.size = array.size();
  entry.checksum = 1;  // wrong: inflating the whole entry would be another error
  EXPECT_THAT(npz_refusal(zip_bytes({entry})), HasSubstr("array 'x': 100000 bytes of data"));
  // The data of other arrays is not inflated either.
  const std::string good = array_of(npy_dict("<f4", "(25000,)"), std::string(100'000, '\0'));
  ZipWriterEntry before{"a.npy", deflated(good)};
  before.method = 8;
  before.size = good.size();
  before.checksum = 1;
  EXPECT_THAT(npz_refusal(zip_bytes({before, entry})), HasSubstr("array 'x': 100000 bytes of data"));
}

TEST(Npz, RefusesOtherEntries) {
  const std::string good = array_of(npy_dict("<f4", "(1,)"), "0123");
  EXPECT_THAT(npz_refusal(zip_bytes({{"x.npy", good}, {"x.txt", "text"}})), HasSubstr("expected only arrays"));
  EXPECT_THAT(array_refusal("\x93NUMPX"), HasSubstr("bytes left"));
  EXPECT_THAT(array_refusal("\x93NUMPX" + good.substr(6)), HasSubstr("expected a NumPy array"));
  EXPECT_THAT(array_refusal("\x93NUMPY\4" + good.substr(7)), HasSubstr("version 4.0 of the format"));
  EXPECT_THAT(array_refusal(array_of(std::string(65537, ' '), "", 2)), HasSubstr("a header of 65537 bytes"));
}

TEST(NpyHeader, ReadsHeadersThatPythonWrites) {
  const auto array = [](const std::string& header, std::size_t bytes) {
    return *npz_of(zip_bytes({{"x.npy", array_of(header, std::string(bytes, 'x'))}})).find("x");
  };
  EXPECT_EQ(array("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 24).type(), DataType::float32);
  EXPECT_EQ(array(R"({"shape":(2,3),"descr":"|b1","fortran_order":True})", 6).shape(), Shape({2, 3}));
  EXPECT_EQ(array("{'shape': (), 'descr': '<f4', 'fortran_order': True}", 4).shape(), Shape());
  EXPECT_EQ(array("{'shape': (5L,), 'descr': '<f4', 'fortran_order': True}", 20).shape(), Shape({5}));
}

TEST(NpyHeader, RefusesAnythingElse) {
  const std::vector<std::string> cases = {
      "",
      "{",
      "{}",
      "[]",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': '1'}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': ((1,),)}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
      "{'descr': '<\\x664', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} + f()",
      "{'descr': '<f4\", 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::string(66, '1') + ",)}",
  };
  for (const std::string& text : cases) {
    EXPECT_THAT(array_refusal(array_of(text, "0123")), HasSubstr("in the header, expected")) << text;
  }
  std::string sizes;
  for (int i = 0; i < 33; ++i) sizes += "1,";
  EXPECT_THAT(array_refusal(array_of(npy_dict("<f4", "(" + sizes + ")"), "0123")), HasSubstr("at most 32 sizes"));
}

TEST(Npz, ReportsAnErrorForEveryDamage) {
  for (const std::string name : {"stored", "deflated"}) {
    const std::string whole = read_golden("npz/" + name + ".npz");
    EXPECT_GT(read_damaged(whole, [](const std::string& text) { read_all(npz_of(text)); }).refused, whole.size());
  }
}

}  // namespace
}  // namespace encdec

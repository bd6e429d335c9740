#include "encdec/models/checkpoint/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/npy_header.h"
#include "tests/models/checkpoint/golden_weights.h"
#include "tests/support/damage.h"
#include "tests/support/zip_writer.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WeightStore parse(const std::string& text) {
  WeightStore store("test");
  const ExactBytes memory(text);
  parse_npz(memory.bytes(), memory.owner(), "x.npz", store);
  return store;
}

std::string refusal_of(const std::string& text) {
  try {
    parse(text);
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("x.npz: "));
    return error.what();
  }
  return "no error";
}

std::string array_of(const std::string& header, const std::string& data, char version = 1) {
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

std::string refusal_of_array(const std::string& array) {
  return refusal_of(zip_bytes({{"x.npy", array}}));
}

std::string header_of(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

TEST(Npz, GivesWhatNumPySaved) {
  for (const std::string name : {"stored", "deflated", "version_3"}) {
    SCOPED_TRACE(name);
    expect_golden(parse(read_golden("npz/" + name + ".npz")), "npz/" + name + ".npz");
  }
}

TEST(Npz, StoredArraysAreViewsOfTheFile) {
  const ExactBytes memory(read_golden("npz/stored.npz"));
  WeightStore store("test");
  parse_npz(memory.bytes(), memory.owner(), "x.npz", store);
  const std::byte* begin = memory.bytes().data();
  const std::byte* end = begin + memory.bytes().size();
  EXPECT_TRUE(store.find("f4")->raw() >= begin && store.find("f4")->raw() < end);
  EXPECT_FALSE(store.find("columns_first")->raw() >= begin && store.find("columns_first")->raw() < end);
}

TEST(Npz, RefusesTypesThatAreNoPlainNumbers) {
  for (const std::string descr : {"|O", "|S4", "<U2", "|V8", "<M8[ns]", "<f3", "f4", "", "<i1"}) {
    EXPECT_THAT(refusal_of_array(array_of(header_of(descr, "(1,)"), "0123")), HasSubstr("type '" + descr + "'"));
  }
  EXPECT_THAT(refusal_of_array(array_of(header_of(">f4", "(1,)"), "0123")), HasSubstr("big-endian type '>f4'"));
  EXPECT_THAT(refusal_of_array(array_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "0123")),
              HasSubstr("expected a string, as plain types have"));
}

TEST(Npz, RefusesDataThatIsNotAsLargeAsItsShape) {
  for (const std::string shape : {"(2,)", "(0,)", "(4611686018427387904, 4)", "(4294967296, 4294967296)",
                                  "(9223372036854775808, 2)", "(18446744073709551615,)", "(1, 1, 3)"}) {
    EXPECT_THAT(refusal_of_array(array_of(header_of("<f4", shape), "0123")), HasSubstr("4 bytes of data")) << shape;
  }
  EXPECT_THAT(refusal_of_array(array_of(header_of("<f4", "()"), "01234567")), HasSubstr("8 bytes of data"));
}

TEST(Npz, RefusesOtherEntries) {
  const std::string good = array_of(header_of("<f4", "(1,)"), "0123");
  EXPECT_THAT(refusal_of(zip_bytes({{"x.npy", good}, {"x.txt", "text"}})), HasSubstr("expected only arrays"));
  EXPECT_THAT(refusal_of_array("\x93NUMPX"), HasSubstr("bytes left"));
  EXPECT_THAT(refusal_of_array("\x93NUMPX" + good.substr(6)), HasSubstr("expected a NumPy array"));
  EXPECT_THAT(refusal_of_array("\x93NUMPY\4" + good.substr(7)), HasSubstr("version 4.0 of the format"));
  EXPECT_THAT(refusal_of_array(array_of(std::string(65537, ' '), "", 2)), HasSubstr("a header of 65537 bytes"));
}

NpyHeader header(const std::string& text) {
  return parse_npy_header(text, "x");
}

TEST(NpyHeader, ReadsWhatPythonWrites) {
  EXPECT_EQ(header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n").descr, "<f4");
  EXPECT_THAT(header(R"({"shape":(2,3),"descr":"|b1","fortran_order":True})").shape, ElementsAre(2, 3));
  EXPECT_TRUE(header("{'shape': (), 'descr': '<f4', 'fortran_order': True}").fortran_order);
  EXPECT_THAT(header("{'shape': (5L,), 'descr': '<f4', 'fortran_order': True}").shape, ElementsAre(5));
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
  for (const std::string& text : cases) EXPECT_THROW(header(text), FileError) << text;
  std::string sizes;
  for (int i = 0; i < 33; ++i) sizes += "1,";
  EXPECT_THROW(header("{'descr': '<f4', 'fortran_order': False, 'shape': (" + sizes + ")}"), FileError);
}

TEST(Npz, GivesAnErrorForEveryDamage) {
  for (const std::string name : {"stored", "deflated"}) {
    const std::string whole = read_golden("npz/" + name + ".npz");
    const DamageReport report = read_damaged(whole, [](const std::string& text) { read_all(parse(text)); });
    EXPECT_EQ(report.read + report.refused, 5 * whole.size());
    EXPECT_GT(report.refused, whole.size());
  }
}

}  // namespace
}  // namespace encdec

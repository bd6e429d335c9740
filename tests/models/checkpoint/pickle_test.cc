#include "encdec/models/checkpoint/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/checkpoint/pickle_writer.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::HasSubstr;

Pickle parse_pickle(const std::string& text) {
  static std::vector<ExactBytes> kept;  // the objects are views of these bytes
  kept.emplace_back(text);
  return {kept.back().bytes(), "x.pkl", [](const Pickle::Global& global) { return global.module == "good"; }};
}

std::string pickle_refusal(const std::string& text) {
  return refusal_of("x.pkl: ", [&] { parse_pickle(text); });
}

template <class Kind>
Kind value_of(const std::string& object) {
  const Pickle pickle = parse_pickle(pickle_of(object));
  const Kind* value = pickle.get<Kind>(pickle.root());
  EXPECT_NE(value, nullptr);
  return value == nullptr ? Kind{} : *value;
}

TEST(Pickle, ReadsEveryKindOfNumber) {
  EXPECT_EQ(value_of<std::int64_t>("K\xff"), 255);
  EXPECT_EQ(value_of<std::int64_t>("M\x01\x80"), 0x8001);
  EXPECT_EQ(value_of<std::int64_t>("J\xfe\xff\xff\xff"), -2);
  EXPECT_EQ(value_of<std::int64_t>(std::string("\x8a\0", 2)), 0);
  EXPECT_EQ(value_of<std::int64_t>("\x8a\x01\xff"), -1);
  EXPECT_EQ(value_of<std::int64_t>(std::string("\x8a\x02\xff\x00", 4)), 255);
  EXPECT_EQ(value_of<std::int64_t>(pickle_integer(INT64_MIN)), INT64_MIN);
  EXPECT_EQ(value_of<double>(std::string("G\xc0\x04\0\0\0\0\0\0", 9)), -2.5);
  EXPECT_EQ(value_of<bool>("\x88"), true);
  EXPECT_EQ(value_of<bool>("\x89"), false);
  value_of<Pickle::None>("N");
  value_of<Pickle::Opaque>(
      "\x8a\x09"
      "123456789");
}

TEST(Pickle, ReadsTextsTuplesListsAndDicts) {
  EXPECT_EQ(value_of<Pickle::Text>(pickle_text("text")).text, "text");
  EXPECT_EQ(value_of<Pickle::Text>("\x8c\x03"
                                   "abc")
                .text,
            "abc");
  EXPECT_EQ(value_of<Pickle::Tuple>("(NNt").items.size(), 2u);
  EXPECT_EQ(value_of<Pickle::Tuple>("NNN\x87").items.size(), 3u);
  EXPECT_EQ(value_of<Pickle::List>("]Na(NNe").items.size(), 3u);
  EXPECT_EQ(value_of<Pickle::Dict>("}NNs(NNNNu").items.size(), 3u);
  EXPECT_EQ(value_of<Pickle::Dict>(pickle_global("collections", "OrderedDict") + ")RNNs}b").items.size(), 1u);
}

TEST(Pickle, CallsNothing) {
  const Pickle pickle = parse_pickle(pickle_of(pickle_global("good", "f") + "(K\1K\2tR"));
  const auto* call = pickle.get<Pickle::Call>(pickle.root());
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(pickle.get<Pickle::Global>(call->function)->name, "f");
  EXPECT_EQ(pickle.get<Pickle::Tuple>(call->arguments)->items.size(), 2u);
}

TEST(Pickle, RefusesGlobalsThatAreNotAllowed) {
  EXPECT_THAT(pickle_refusal(pickle_of(pickle_global("os", "system") + pickle_text("true") + "\x85R")),
              HasSubstr("byte 2: global 'os system' is not allowed"));
  EXPECT_THAT(pickle_refusal(pickle_of(pickle_text("builtins") + pickle_text("eval") + "\x93")),
              HasSubstr("global 'builtins eval' is not allowed"));
  EXPECT_THAT(pickle_refusal(pickle_of(pickle_global("o\x1b[0m", "\xff"))), HasSubstr(R"('o\u001b[0m )"));
  EXPECT_THAT(pickle_refusal(pickle_of("c" + std::string(5000, 'x'))), HasSubstr("without end"));
}

TEST(Pickle, RefusesOpcodesThatNoCheckpointNeeds) {
  // INST, OBJ, NEWOBJ, EXT1, DUP, PERSID, INT, and an opcode that does not exist.
  for (const std::string opcode : {"(ios\nsystem\n", "(o", ")\x81", "\x82\1", "N2", "Px\n", "I1\n", "\xff"}) {
    EXPECT_THAT(pickle_refusal(pickle_of(opcode)), HasSubstr("expected one that checkpoints of tensors need"));
  }
}

TEST(Pickle, RefusesInvalidStacks) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "takes from an empty stack"},
      {"0", "takes from an empty stack"},
      {"N(0", "takes from an empty stack"},
      {"t", "takes from a mark"},
      {"NN", "ends with objects left over"},
      {"(N", "ends with objects left over"},
      {"NNa", "appends to something else"},
      {"(NN(e", "appends to something else"},
      {"NNNs", "sets items of something else"},
      {"}(Nu", "a key without a value"},
      {std::string("h\0", 2), "memo 0 is empty"},
      {std::string("Nq\x20"), "memo 32, expected at most"},
      {"Nr\xff\xff\xff\xff", "memo 4294967295"},
      {"NNR", "calls something else"},
      {"NNb", "sets attributes of something else"},
      {"NN\x93", "a global that is named by other objects"},
      {"\x80\2N", "protocol 2, expected 2 to 5 at byte 0"},
      {pickle_global("collections", "OrderedDict") + "N\x85R", "an OrderedDict with arguments"},
  };
  for (const auto& [object, expected] : cases) EXPECT_THAT(pickle_refusal(pickle_of(object)), HasSubstr(expected));
  EXPECT_THAT(pickle_refusal("\x80\1N."), HasSubstr("protocol 1"));
  EXPECT_THAT(pickle_refusal("\x80\2N.N"), HasSubstr("1 bytes after the end"));
}

TEST(Pickle, StopsAtItsStopOpcode) {
  const ExactBytes memory("\x80\2K\7.\x80\2N.");
  const auto allowed = [](const Pickle::Global&) { return false; };
  const Pickle first = Pickle::first_of(memory.bytes(), "x.pkl", allowed);
  EXPECT_EQ(first.size(), 5u);
  EXPECT_EQ(*first.get<std::int64_t>(first.root()), 7);
  const Pickle second = Pickle::first_of(memory.bytes().subspan(5), "x.pkl", allowed);
  EXPECT_EQ(second.size(), 4u);
  EXPECT_NE(second.get<Pickle::None>(second.root()), nullptr);
}

TEST(Pickle, LimitsBytesObjectsAndTexts) {
  EXPECT_THAT(pickle_refusal(pickle_of(pickle_text(std::string(Pickle::kMaxBytes, 'x')))),
              HasSubstr("a pickle of more than 33554432 bytes"));
  EXPECT_THAT(pickle_refusal(pickle_of(std::string(Pickle::kMaxObjects + 1, 'N'))),
              HasSubstr("more than 1048576 objects"));
  EXPECT_THAT(pickle_refusal(pickle_of("X\xff\xff\xff\xff")), HasSubstr("expected 4294967295 of a string"));
  EXPECT_THAT(pickle_refusal(pickle_of("\x8d\xff\xff\xff\xff\xff\xff\xff\xff")),
              HasSubstr("expected 18446744073709551615"));
}

TEST(Pickle, DepthAndSharingNeedLittleMemory) {
  // A tuple in a tuple in a tuple, ...
  const Pickle deep = parse_pickle(pickle_of("N" + std::string(1'000'000, '\x85')));
  EXPECT_NE(deep.get<Pickle::Tuple>(deep.root()), nullptr);
  // Every tuple holds the previous tuple twice: 2^n leaves if tuples were copied.
  std::string laughs = "N";
  for (int i = 0; i < 200; ++i) laughs += std::string("q\0h\0\x86", 5);
  const Pickle shared = parse_pickle(pickle_of(laughs));
  EXPECT_EQ(shared.get<Pickle::Tuple>(shared.root())->items.size(), 2u);
}

}  // namespace
}  // namespace encdec

#include "encdec/models/generation/lexical_shortlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "encdec/engine/base/error.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"
#include "tests/support/students.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr LexicalShortlist::Sizes kSizes{.source = 4, .target = 30, .is_shared = false};

// The file of lists {10, 11}, {}, {12}, {10, 29}, with tokens 0 to 2 always allowed.
std::string small_file() {
  return shortlist_file(3, {0, 2, 2, 3, 5}, {10, 11, 12, 10, 29});
}

LexicalShortlist shortlist(const std::string& file, const LexicalShortlist::Sizes& sizes = kSizes) {
  const ExactBytes memory(file);
  return LexicalShortlist({memory.bytes(), memory.owner(), "lex.bin"}, sizes);
}

TEST(LexicalShortlist, HasTheListsOfTheSourceAndAMultipleOfEight) {
  const std::string file = small_file();
  EXPECT_THAT(shortlist(file).tokens_for({2, 0}), ElementsAre(0, 1, 2, 3, 4, 10, 11, 12));
  EXPECT_THAT(shortlist(file).tokens_for({1}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(shortlist(file).tokens_for({0, 3, 2, 3}), ElementsAre(0, 1, 2, 3, 10, 11, 12, 29));
  // A shared vocabulary also allows the source's own tokens.
  LexicalShortlist::Sizes shared = kSizes;
  shared.is_shared = true;
  EXPECT_THAT(shortlist(file, shared).tokens_for({3}), ElementsAre(0, 1, 2, 3, 4, 5, 10, 29));
}

TEST(LexicalShortlist, RefusesDamagedFiles) {
  const std::string file = small_file();
  const auto refused = [](const std::string& damaged, const LexicalShortlist::Sizes& sizes = kSizes) {
    return refusal_of("lex.bin: ", [&] { shortlist(damaged, sizes); });
  };
  EXPECT_THAT(refused("x" + file), HasSubstr("unknown first word"));
  EXPECT_THAT(refused(file, {.source = 5, .target = 30}), HasSubstr("expected those of 5 source and 30 target tokens"));
  EXPECT_THAT(refused(file, {.source = 4, .target = 29}), HasSubstr("entry 4 is token 29, expected one below 29"));
  std::string changed = file;
  changed[40] = 1;
  EXPECT_THAT(refused(changed), HasSubstr("checksum"));
  // The checksum leaves out a last half word.
  std::size_t read = 0;
  read_damaged(file, [&](const std::string& damaged) {
    shortlist(damaged);
    read += damaged != file ? 1 : 0;
  });
  EXPECT_LE(read, 16u);
}

}  // namespace
}  // namespace encdec

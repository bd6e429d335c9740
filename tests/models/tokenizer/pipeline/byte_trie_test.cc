#include "encdec/models/tokenizer/pipeline/byte_trie.h"

#include <gtest/gtest.h>

#include <string>

namespace encdec {
namespace {

TEST(ByteTrie, FindsExactlyWhatWasInserted) {
  ByteTrie trie;
  for (int i = 0; i < 5000; ++i) trie.insert(std::to_string(i * 7), i);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(trie.find(std::to_string(i * 7)), i);
  EXPECT_EQ(trie.find("1"), std::nullopt);
  EXPECT_EQ(trie.find(""), std::nullopt);
  EXPECT_EQ(trie.find("7777777"), std::nullopt);
}

TEST(ByteTrie, TheLastValueOfATextWins) {
  ByteTrie trie;
  trie.insert("ab", 1);
  trie.insert("ab", 2);
  EXPECT_EQ(trie.find("ab"), 2);
}

TEST(ByteTrie, WalksByteByByte) {
  ByteTrie trie;
  trie.insert("\xE2\x96\x81", 3);
  const ByteTrie::Node node = trie.walk(ByteTrie::kRoot, "\xE2\x96");
  ASSERT_NE(node, ByteTrie::kNone);
  EXPECT_LT(trie.value(node), 0);
  EXPECT_EQ(trie.value(trie.step(node, '\x81')), 3);
  EXPECT_EQ(trie.step(node, '\x80'), ByteTrie::kNone);
}

}  // namespace
}  // namespace encdec

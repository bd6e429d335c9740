#include "encdec/models/tokenizer/families/python_text.h"

#include <gtest/gtest.h>

namespace encdec {
namespace {

TEST(PythonLower, MatchesPython) {
  EXPECT_EQ(python_lower("ABC éÉ ÄÖÜß ДЖ"), "abc éé äöüß дж");
  EXPECT_EQ(python_lower("İstanbul"), "i̇stanbul");
  EXPECT_EQ(python_lower("ǅ Ⅷ Ⓐ"), "ǆ ⅷ ⓐ");
}

TEST(PythonLower, ASigmaAtTheEndOfAWordIsAFinalSigma) {
  EXPECT_EQ(python_lower("ΟΔΥΣΣΕΥΣ"), "οδυσσευς");
  EXPECT_EQ(python_lower("Σ"), "σ");
  EXPECT_EQ(python_lower("ΑΣ ΣΑ"), "ας σα");
  EXPECT_EQ(python_lower("ΑΣ1"), "ας1");
  EXPECT_EQ(python_lower("Α.Σ"), "α.ς");    // a full stop before the sigma does not end the word
  EXPECT_EQ(python_lower("ΑΣ.Α"), "ασ.α");  // nor does a full stop after it
  EXPECT_EQ(python_lower("1Σ"), "1σ");
}

}  // namespace
}  // namespace encdec

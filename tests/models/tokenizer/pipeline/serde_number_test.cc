#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

namespace encdec {
namespace {

TEST(SerdeNumber, ShortNumbersAreExact) {
  for (const char* text : {"0", "-0", "1", "-1.5", "0.1", "12345.678", "1e10", "-2.5E-3", "1e+2", "1e308"}) {
    EXPECT_EQ(read_serde_number(text), std::stod(text)) << text;
  }
}

TEST(SerdeNumber, LongNumbersMayBeOffByOneUnit) {
  int different = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = fmt::format("-{}.46532979011{}", i % 13, 100000 + i * 617);
    const double found = read_serde_number(text).value();
    const double nearest = std::stod(text);
    EXPECT_LE(std::abs(found - nearest), std::abs(nearest) * 3e-16) << text;
    different += found != nearest;
  }
  EXPECT_GT(different, 0);
}

TEST(SerdeNumber, DigitsBeyond64BitsAreIgnored) {
  EXPECT_EQ(read_serde_number("18446744073709551616"), 1844674407370955161.0 * 10);
  EXPECT_EQ(read_serde_number("0.184467440737095516159999999"), 18446744073709551615.0 / 1e20);
}

TEST(SerdeNumber, NumbersBeyondTheRangeAreRefused) {
  EXPECT_EQ(read_serde_number("1e309"), std::nullopt);
  EXPECT_EQ(read_serde_number("1e99999999999"), std::nullopt);
  EXPECT_EQ(read_serde_number("1e-99999999999"), 0.0);
  EXPECT_EQ(read_serde_number("0e99999999999"), 0.0);
  EXPECT_EQ(read_serde_number(std::string(400, '9')), std::nullopt);
}

}  // namespace
}  // namespace encdec

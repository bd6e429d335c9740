#include "encdec/engine/base/base64.h"

#include <gtest/gtest.h>

namespace encdec {
namespace {

TEST(Base64, DecodesWithAndWithoutPadding) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("AP/+"), std::string("\0\xFF\xFE", 3));
}

TEST(Base64, EncodesWithPadding) {
  for (const char* text : {"", "Zg==", "Zm8=", "Zm9v", "AP/+", "AP/+AA=="}) {
    const std::string bytes = decode_base64(text).value();
    EXPECT_EQ(encode_base64(std::as_bytes(std::span(bytes))), text);
  }
}

TEST(Base64, RefusesMalformedText) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zm9v====", "Zm 9", "Zm9-", "=Zm9", "Z===", "Zh=="}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace encdec

#include "encdec/translation/text/language.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace encdec {
namespace {

TEST(Languages, HaveOneSpelling) {
  for (const char* french : {"fr", "FR", "fra", "fre", "fr_XX", "fra_Latn", ">>fra<<", "fr-CA", "fr-Latn"}) {
    EXPECT_EQ(canonical_language(french), "fr") << french;
  }
  for (const char* chinese : {"zh", "ZH-HANS", "zho_Hans", "zh_CN", "zh-Hans"}) {
    EXPECT_EQ(canonical_language(chinese), "zh") << chinese;
  }
  for (const char* chinese : {"zh-Hant", "zho_Hant", "zh_TW", "ZH-HANT"}) {
    EXPECT_EQ(canonical_language(chinese), "zh-Hant") << chinese;
  }
  EXPECT_EQ(canonical_language("EN-US"), "en");
  EXPECT_EQ(canonical_language("PT-BR"), "pt");
  EXPECT_EQ(canonical_language("srp_Cyrl"), "sr");
  EXPECT_EQ(canonical_language("sr_Latn"), "sr-Latn");
  EXPECT_EQ(canonical_language("arb_Arab"), "ar");
  EXPECT_EQ(canonical_language("iw"), "he");
  EXPECT_EQ(canonical_language("arpabet"), "arpabet");
  EXPECT_EQ(canonical_language(""), "");
  EXPECT_EQ(canonical_language(">><<"), ">><<");
  EXPECT_EQ(language_name("fr"), "French");
  EXPECT_EQ(language_name("arpabet"), "arpabet");
}

TEST(Languages, AreDetectedAmongTheGivenOnes) {
  const std::vector<std::string> all = {"de", "en", "fr", "zh"};
  EXPECT_EQ(detect_languages("Le chat dort sur le canapé pendant que la pluie tombe.", all).front().language, "fr");
  EXPECT_EQ(detect_languages("Der Hund läuft durch den Garten und bellt die Katze an.", all).front().language, "de");
  EXPECT_EQ(detect_languages("今天的天气非常好，我们一起去公园散步吧。", all).front().language, "zh");
  const auto unknown = detect_languages("12345", all);
  EXPECT_EQ(unknown.size(), all.size());
  EXPECT_EQ(unknown.front().confidence, 0);
  EXPECT_NO_THROW(detect_languages(std::string("\xff\xfe\0x", 4), all));
}

}  // namespace
}  // namespace encdec

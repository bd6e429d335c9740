// Splits arbitrary bytes into sentences and HTML parts, and reads them as a glossary.
#include <encdec/engine/base/error.h>
#include <encdec/translation/text/glossary.h>
#include <encdec/translation/text/html.h>
#include <encdec/translation/text/inline_codes.h>
#include <encdec/translation/text/sentences.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/require.h"

// Checks that a translation has each code exactly once, whatever its alignment is.
void require_all_codes(const encdec::Segment& segment) {
  using namespace encdec;
  std::vector<AlignedWord> words;
  for (std::size_t begin = 0; begin < segment.text.size(); begin += 3) {
    const std::size_t end = std::min(begin + 2, segment.text.size());
    words.push_back({.begin = begin, .end = end, .unit = static_cast<unsigned char>(segment.text[begin]) % 8U});
  }
  std::vector<AlignedCode> codes;
  constexpr std::size_t kMost = 64;  // in a sentence
  for (const InlineCode& code : std::span(segment.codes).first(std::min(segment.codes.size(), kMost))) {
    using Kind = AlignedCode::Kind;
    const Kind kind = !code.partner ? Kind::alone : *code.partner > codes.size() ? Kind::begin : Kind::end;
    const bool is_whole = code.partner.value_or(0) < kMost;
    codes.push_back({.kind = kind, .unit = code.position % 8, .is_whole = is_whole});
  }
  const std::vector<PlacedCode> placed = place_codes(words, codes);
  std::vector<bool> is_placed(codes.size());
  for (const auto& [code, position] : placed) is_placed.at(code) = position <= segment.text.size();
  require(placed.size() == codes.size() && std::ranges::find(is_placed, false) == is_placed.end(),
          "codes stand once in a translation");
  require(std::ranges::is_sorted(placed, {}, &PlacedCode::position), "codes are in order");
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto split : {Split::never, Split::newlines, Split::sentences, Split::sentences_over_lines}) {
    const auto sentences = split_text(text, split, "en");
    const auto parts = split_to_fit(sentences, "en", [](const std::string& part) { return part.size() <= 16; });
    std::string whole, again;
    for (const Sentence& sentence : sentences) whole += sentence.text + sentence.space;
    for (const Sentence& part : parts) again += part.text + part.space;
    require(whole == text, "sentences and spaces are the text");
    require(again == text, "so are their parts");
  }
  for (const char* name : {"a.tsv", "a.csv"}) {
    Glossary glossary;
    try {
      glossary.parse(text, name);
    } catch (const InputError&) {  // terms before the error remain
    }
    std::size_t end = 0;
    for (const Glossary::Match& match : glossary.find(text, "en")) {
      require(end <= match.begin && match.begin < match.end && match.end <= size, "terms do not overlap");
      end = match.end;
    }
  }
  std::string page;
  std::vector<HtmlPart> parts;
  try {
    parts = parse_html(text);
  } catch (const InputError&) {  // too deep
    return 0;
  }
  for (const HtmlPart& part : parts) {
    std::size_t begin = 0;
    for (const InlineCode& code : part.segment.codes) {
      page += part.segment.text.substr(begin, code.position - begin) + code.markup;
      begin = code.position;
    }
    page += part.segment.text.substr(begin);
    require_all_codes(part.segment);
  }
  require(page == text || text.find('&') != std::string::npos, "without entities, parts are the page");
  return 0;
}

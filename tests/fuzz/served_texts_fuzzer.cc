// Cuts arbitrary bytes into sentences and pages into parts, as encdec serve does.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/text/html.h"
#include "serve/text/inline_tags.h"
#include "serve/text/sentences.h"
#include "tests/fuzz/require.h"

// Requires that a translation has each tag exactly once, however its words are aligned.
void require_all_tags(const encdec::serve::HtmlPart& part) {
  using namespace encdec::serve;
  std::vector<AlignedWord> words;
  for (std::size_t begin = 0; begin < part.content.size(); begin += 3) {
    const std::size_t end = std::min(begin + 2, part.content.size());
    words.push_back({.begin = begin, .end = end, .unit = static_cast<unsigned char>(part.content[begin]) % 8U});
  }
  std::vector<AlignedTag> tags;
  std::size_t size = escape_html(part.content).size();
  constexpr std::size_t kMost = 64;  // in a sentence
  for (const InlineTag& tag : std::span(part.tags).first(std::min(part.tags.size(), kMost))) {
    using Kind = AlignedTag::Kind;
    const Kind kind = !tag.partner ? Kind::alone : *tag.partner > tags.size() ? Kind::begin : Kind::end;
    const bool is_whole = tag.partner.value_or(0) < kMost;
    tags.push_back({.kind = kind, .markup = tag.markup, .unit = tag.place % 8, .is_whole = is_whole});
    size += tag.markup.size();
  }
  encdec::require(with_tags(part.content, words, tags).size() == size, "tags stand once in a translation");
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto split :
       {serve::Split::never, serve::Split::newlines, serve::Split::sentences, serve::Split::sentences_over_lines}) {
    const auto sentences = serve::split_text(text, split, "en");
    const auto parts = serve::cut_to_fit(sentences, [](const std::string& part) { return part.size() <= 16; });
    std::string whole, again;
    for (const serve::Sentence& sentence : sentences) whole += sentence.text + sentence.space;
    for (const serve::Sentence& part : parts) again += part.text + part.space;
    require(whole == text, "sentences and spaces are the text");
    require(again == text, "so are their parts");
  }
  std::string page;
  for (const serve::HtmlPart& part : serve::parse_html(text)) {
    std::size_t begin = 0;
    for (const serve::InlineTag& tag : part.tags) {
      page += part.content.substr(begin, tag.place - begin) + tag.markup;
      begin = tag.place;
    }
    page += part.content.substr(begin);
    require_all_tags(part);
  }
  require(page == text || text.find('&') != std::string::npos, "without entities, parts are the page");
  return 0;
}

// What encdec serve cuts texts and pages into: any bytes.
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/require.h"
#include "text/html.h"
#include "text/sentences.h"

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
  for (const serve::HtmlPart& part : serve::parse_html(text)) page += part.content;
  require(page == text || text.find('&') != std::string::npos, "without entities, parts are the page");
  return 0;
}

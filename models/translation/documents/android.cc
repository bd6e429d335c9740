// Android's strings.xml: string, string-array/item and plurals/item (developer.android.com, "String resources").
#include <charconv>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/translation/documents/placeholders.h"
#include "encdec/models/translation/documents/xml.h"

namespace encdec::documents {
namespace {

std::string unescape_android(std::string_view text) {
  const std::string plain = unescape_xml(text);
  std::string unescaped;
  bool was_space = false;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    const bool is_space = c == ' ' || c == '\n' || c == '\t';
    if (is_space && !was_space) unescaped += ' ';
    was_space = is_space;
    if (is_space || c == '"') continue;
    if (c != '\\' || i + 1 == plain.size()) {
      unescaped += c;
      continue;
    }
    const char escape = plain[++i];
    unsigned code = 0;
    const char* digits = plain.data() + i + 1;
    if (escape == 'u' && i + 4 < plain.size() && std::from_chars(digits, digits + 4, code, 16).ptr == digits + 4 &&
        (code < 0xd800 || code > 0xdfff)) {
      append_utf8(unescaped, code);
      i += 4;
    } else {
      unescaped += escape == 'n' ? '\n' : escape == 't' ? '\t' : escape;
    }
  }
  return unescaped;
}

std::string escape_android(std::string_view text) {
  return escape_xml(with_backslashes(text, "\n\t'\"\\", "nt'\"\\"));
}

class AndroidStrings final : public ReplacingFile {
 public:
  AndroidStrings(std::string_view bytes, const std::string& name)
      : ReplacingFile(bytes, escape_android, Nesting::strict) {
    const XmlTokens xml(bytes, name);
    std::size_t root = 0;
    while (root < xml.size() && !xml.is_start(root)) ++root;
    if (xml.name(root) != "resources") {
      refuse_at(name, bytes, xml[root].range.begin, "another root than resources, expected Android's strings.xml");
    }
    for (std::size_t i = root + 1; i < xml.size(); ++i) {
      const std::string_view element = xml.name(i);
      if (!xml.is_start(i) || element == "string-array" || element == "plurals") {
        if (xml.is_start(i) && xml.attribute(i, "translatable") == "false") i = xml[i].partner;
        continue;
      }
      const bool is_text = (element == "string" || element == "item") && xml.attribute(i, "translatable") != "false";
      if (is_text) add(xml, i);
      i = xml[i].partner;
    }
  }

  std::string edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    ReplacingFile::edit(text, translation, edits);
    std::string& first = edits.back().pieces.front().text;
    if (first.starts_with('@') || first.starts_with('?')) first.insert(0, 1, '\\');
    // Android drops spaces at the ends.
    constexpr std::string_view kSpace = "\\u0020";
    if (first.starts_with(' ')) first.replace(0, 1, kSpace);
    std::string& last = edits.back().pieces.back().text;
    if (last.ends_with(' ')) last.replace(last.size() - 1, 1, kSpace);
    return "";
  }

 private:
  void add(const XmlTokens& xml, std::size_t i) {
    const ByteRange content = xml.content(i);
    const std::string_view value = bytes_.substr(content.begin, content.end - content.begin);
    if (value.starts_with("@") || value.starts_with("?")) return;  // the name of another resource
    auto text =
        text_of(bytes_,
                xml.items(i,
                          [&xml](std::size_t token) {
                            return xml.name(token) == "g" ? XmlTokens::Inline::placeholder : XmlTokens::Inline::pair;
                          }),
                unescape_android, Spaces::trim);
    if (!text) return;
    add_placeholders(text->segment, {.percent = true, .braces = true});
    texts_.push_back(*std::move(text));
  }
};

}  // namespace

std::unique_ptr<TextFile> read_android(std::string_view bytes, const std::string& name,
                                       const DocumentOptions& /*options*/) {
  return std::make_unique<AndroidStrings>(bytes, name);
}

}  // namespace encdec::documents

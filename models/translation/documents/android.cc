// Android's strings.xml: string, string-array/item and plurals/item (developer.android.com, "String resources").
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
    } else if (const std::size_t size = take_unicode_escape(std::string_view(plain).substr(i), unescaped)) {
      i += size - 1;
    } else {
      const char escape = plain[++i];
      unescaped += escape == 'n' ? '\n' : escape == 't' ? '\t' : escape;
    }
  }
  return unescaped;
}

std::string escape_android(std::string_view text) {
  return escape_xml(with_backslashes(text, "\n\t'\"\\", "nt'\"\\"));
}

class AndroidStrings final : public TextFile {
 public:
  explicit AndroidStrings(const InputFile& input)
      : TextFile(input, {.unescape = unescape_android,
                         .escape = escape_android,
                         .spaces = Spaces::trim,
                         .nesting = Nesting::strict,
                         .is_xml = true,
                         .placeholders = {.percent = true, .braces = true, .markup = true}}) {
    const XmlTokens xml(input);
    const auto kind_of = [&xml](std::size_t i) {
      return xml.name(i) == "g" ? XmlTokens::Inline::placeholder : XmlTokens::Inline::pair;
    };
    const std::size_t root = xml.root();
    if (xml.name(root) != "resources") {
      input.refuse_at(xml[root].range.begin, "another root than resources, expected Android's strings.xml");
    }
    for (std::size_t i = root + 1; i < xml.size(); ++i) {
      if (!xml.is_start(i)) continue;
      const std::string_view element = xml.name(i), value = xml.content(i).of(input.bytes);
      const bool is_translated = xml.attribute(i, "translatable") != "false";
      if (is_translated && (element == "string-array" || element == "plurals")) continue;
      const bool is_text = is_translated && (element == "string" || element == "item");
      // "@" and "?" begin the name of another resource.
      if (is_text && !value.starts_with('@') && !value.starts_with('?')) add(xml.items(i, kind_of));
      i = xml[i].partner;
    }
  }

  void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    TextFile::edit(text, translation, edits);
    std::string& first = edits.back().pieces.front().text;
    if (first.starts_with('@') || first.starts_with('?')) first.insert(0, 1, '\\');
    // Android drops spaces at the ends.
    constexpr std::string_view kSpace = "\\u0020";
    if (first.starts_with(' ')) first.replace(0, 1, kSpace);
    std::string& last = edits.back().pieces.back().text;
    if (last.ends_with(' ')) last.replace(last.size() - 1, 1, kSpace);
  }
};

}  // namespace

std::unique_ptr<TextFile> read_android(const InputFile& input) {
  return std::make_unique<AndroidStrings>(input);
}

}  // namespace encdec::documents

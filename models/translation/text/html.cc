#include "encdec/models/translation/text/html.h"

#include <gumbo.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "encdec/models/tokenizer/base/lower_case.h"
#include "encdec/models/translation/text/word_list.h"

namespace encdec {
namespace {

constexpr std::string_view kSpaces = " \t\n\f\r";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A parsed tag: "<name attribute=value>" or "</name>".
struct Tag {
  std::string name;  // in lower case
  bool is_end = false;
  bool is_marked = false;  // the tag says that its element is not to be translated
};

// Parses the tag at the beginning of `text`. Returns its size; the size of the whole text if the tag has no end.
std::size_t read_tag(std::string_view text, Tag& tag) {
  std::size_t place = text[1] == '/' ? 2 : 1;
  tag.is_end = place == 2;
  const std::size_t name_end = std::min(text.find_first_of(" \t\n\f\r/>", place), text.size());
  tag.name = lower_case(text.substr(place, name_end - place));
  place = name_end;
  for (;;) {
    place = text.find_first_not_of(" \t\n\f\r/", place);
    if (place == std::string_view::npos) return text.size();
    if (text[place] == '>') return place + 1;
    const std::size_t attribute_end = std::min(text.find_first_of(" \t\n\f\r/>=", place + 1), text.size());
    const std::string attribute = lower_case(text.substr(place, attribute_end - place));
    place = std::min(text.find_first_not_of(kSpaces, attribute_end), text.size());
    std::string_view value;
    if (place < text.size() && text[place] == '=') {
      place = std::min(text.find_first_not_of(kSpaces, place + 1), text.size());
      const char quote = place < text.size() ? text[place] : '\0';
      const bool is_quoted = quote == '"' || quote == '\'';
      const std::size_t begin = is_quoted ? place + 1 : place;
      const std::size_t end =
          std::min(is_quoted ? text.find(quote, begin) : text.find_first_of(" \t\n\f\r>", begin), text.size());
      value = text.substr(begin, end - begin);
      place = std::min(is_quoted ? end + 1 : end, text.size());
    }
    if (attribute == "translate" && lower_case(value) == "no") tag.is_marked = true;
    if (attribute == "class" && has_word(value, "notranslate")) tag.is_marked = true;
  }
}

// Elements without an end tag.
constexpr std::string_view kVoid = "area base br col embed hr img input link meta param source wbr";
// Elements whose text is not in a human language.
constexpr std::string_view kCode = "code pre kbd samp var math svg template";
// Elements whose content has no tags: everything up to the end tag is text.
constexpr std::string_view kRaw = "script style xmp iframe noembed noframes";
// Elements that may be parts of a sentence.
constexpr std::string_view kInline =
    "a abbr acronym b bdi bdo big cite data del dfn em font i img ins label mark q s small span strike strong sub sup "
    "time tt u wbr";

// Returns the position of the end tag of the raw element `name`; the size of `text` if there is none.
std::size_t raw_end(std::string_view text, const std::string& name) {
  for (std::size_t place = text.find("</"); place != std::string_view::npos; place = text.find("</", place + 2)) {
    if (lower_case(text.substr(place + 2, name.size())) == name) return place;
  }
  return text.size();
}

// Returns the size of the comment, declaration or processing instruction at the beginning of `text`; 0 if there is
// none. REQUIRES: `text` begins with '<'.
std::size_t markup_without_name(std::string_view text) {
  const auto behind = [text](std::string_view end, std::size_t from) {
    const std::size_t place = text.find(end, from);
    return place == std::string_view::npos ? text.size() : place + end.size();
  };
  if (text.starts_with("<!-->")) return 5;
  if (text.starts_with("<!--")) return behind("-->", 4);
  if (text.starts_with("<!") || text.starts_with("<?")) return behind(">", 2);
  if (text.starts_with("</") && text.size() > 2 && !is_letter(text[2])) return behind(">", 2);
  return 0;
}

struct DestroyOutput {
  void operator()(GumboOutput* output) const { gumbo_destroy_output(&kGumboDefaultOptions, output); }
};

class Parts {
 public:
  void add(bool is_text, std::string_view content) {
    if (content.empty()) return;
    HtmlPart& added = part(is_text);
    added.bytes += content.size();
    added.segment.text += is_text ? unescape_html(content) : std::string(content);
  }
  void add_tag(const Tag& tag, std::string_view markup) {
    ++tags_;
    HtmlPart& all = part(true);
    all.bytes += markup.size();
    Segment& text = all.segment;
    InlineCode added{.place = text.text.size(), .markup = std::string(markup)};
    const std::size_t number = text.codes.size();
    if (tag.is_end && !open_.empty() && open_.back().first == tag.name) {
      added.partner = open_.back().second;
      text.codes[open_.back().second].partner = number;
      open_.pop_back();
    } else if (!tag.is_end && !has_word(kVoid, tag.name)) {
      open_.emplace_back(tag.name, number);
    }
    text.codes.push_back(std::move(added));
  }
  // Returns whether more inline tags may be added. Later ones are added as markup, which takes less memory.
  bool takes_tags() const { return tags_ < kMaxTags; }
  std::vector<HtmlPart> take() { return std::move(parts_); }

 private:
  static constexpr std::size_t kMaxTags = 1 << 16;

  HtmlPart& part(bool is_text) {
    if (parts_.empty() || parts_.back().is_text != is_text) {
      parts_.push_back({.is_text = is_text, .segment = {}, .bytes = 0});
      open_.clear();
    }
    return parts_.back();
  }

  std::vector<HtmlPart> parts_;
  std::size_t tags_ = 0;
  std::vector<std::pair<std::string, std::size_t>> open_;  // open inline elements of the last text: name, index of tag
};

}  // namespace

std::vector<HtmlPart> parse_html(std::string_view html) {
  Parts parts;
  std::string kept;       // name of the current element that is not translated; empty if there is none
  std::size_t depth = 0;  // number of open elements of that name, from the current element on
  while (!html.empty()) {
    const std::size_t less = std::min(html.find('<'), html.size());
    parts.add(kept.empty(), html.substr(0, less));
    html.remove_prefix(less);
    if (html.empty()) break;
    std::size_t size = markup_without_name(html);
    const std::size_t name = html.starts_with("</") ? 2 : 1;
    if (size == 0 && (html.size() <= name || !is_letter(html[name]))) {
      parts.add(kept.empty(), html.substr(0, 1));
      html.remove_prefix(1);
      continue;
    }
    Tag tag;
    if (size == 0) size = read_tag(html, tag);
    if (has_word(kRaw, tag.name) && !tag.is_end) size += raw_end(html.substr(size), tag.name);
    const bool is_kept = !tag.is_end && (has_word(kCode, tag.name) || tag.is_marked) && !has_word(kVoid, tag.name) &&
                         !has_word(kRaw, tag.name);
    if (kept.empty() && !is_kept && has_word(kInline, tag.name) && parts.takes_tags()) {
      parts.add_tag(tag, html.substr(0, size));
    } else {
      parts.add(false, html.substr(0, size));
    }
    html.remove_prefix(size);
    if (!kept.empty()) {
      if (tag.name == kept) tag.is_end ? --depth : ++depth;
      if (depth == 0) kept.clear();
    } else if (is_kept) {
      kept = tag.name;
      depth = 1;
    }
  }
  return parts.take();
}

std::string write_html(const HtmlPart& part) {
  const std::string_view text = part.segment.text;
  if (!part.is_text) return std::string(text);
  std::string html;
  std::size_t begin = 0;
  for (const InlineCode& code : part.segment.codes) {
    html += escape_html(text.substr(begin, code.place - begin)) + code.markup;
    begin = code.place;
  }
  return html + escape_html(text.substr(begin));
}

std::string unescape_html(std::string_view text) {
  if (text.find('&') == std::string_view::npos) return std::string(text);
  GumboOptions options = kGumboDefaultOptions;
  options.fragment_context = GUMBO_TAG_BODY;
  options.max_errors = 0;
  const std::unique_ptr<GumboOutput, DestroyOutput> output(
      gumbo_parse_with_options(&options, text.data(), text.size()));
  std::string plain;
  const GumboVector& children = output->root->v.element.children;
  for (unsigned i = 0; i < children.length; ++i) {
    const auto* child = static_cast<const GumboNode*>(children.data[i]);
    if (child->type == GUMBO_NODE_TEXT || child->type == GUMBO_NODE_WHITESPACE) plain += child->v.text.text;
  }
  return plain;
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

}  // namespace encdec

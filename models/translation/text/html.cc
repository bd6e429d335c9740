#include "encdec/models/translation/text/html.h"

#include <fmt/format.h>
#include <gumbo.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <functional>
#include <memory_resource>
#include <unordered_map>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/base/lower_case.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/translation/text/word_list.h"

namespace encdec {
namespace {

constexpr std::string_view kSpaces = " \t\n\f\r";

// Elements without an end tag.
constexpr std::string_view kVoid = "area base br col embed hr img input link meta param source wbr";
// Elements whose text is not in a human language.
constexpr std::string_view kCode =
    "code pre kbd samp var math svg template script style xmp iframe noembed noframes plaintext";
// Elements whose content has no tags.
constexpr std::string_view kRaw = "script style xmp iframe noembed noframes plaintext title textarea";
// Elements that may be parts of a sentence.
constexpr std::string_view kInline =
    "a abbr acronym b bdi bdo big cite data del dfn em font i img ins label mark q rb ruby s small span strike strong "
    "sub sup time tt u wbr";
// Elements with readings.
constexpr std::string_view kReading = "rp rt rtc";

// Returns the name of the tag that a text begins with, in lower case; an empty text if it is none.
std::string tag_name(std::string_view text) {
  const std::size_t begin = text.starts_with("</") ? 2 : 1;
  if (text.size() <= begin || lower_case(text.substr(begin, 1)).find_first_of("abcdefghijklmnopqrstuvwxyz") != 0)
    return "";
  return lower_case(text.substr(begin, text.find_first_of(" \t\n\f\r/>", begin) - begin));
}

// Returns the size of the tag that a text begins with; the size of the text if the tag has no end.
std::size_t tag_size(std::string_view text) {
  std::size_t place = text.find_first_of(" \t\n\f\r/>");
  while ((place = text.find_first_not_of(" \t\n\f\r/", place)) < text.size() && text[place] != '>') {
    place = text.find_first_not_of(kSpaces, text.find_first_of(" \t\n\f\r/>=", place + 1));
    if (place >= text.size() || text[place] != '=') continue;
    place = text.find_first_not_of(kSpaces, place + 1);
    if (place >= text.size()) break;
    const bool is_quoted = text[place] == '"' || text[place] == '\'';
    place = is_quoted ? text.find(text[place], place + 1) : text.find_first_of(" \t\n\f\r>", place);
    if (is_quoted && place < text.size()) ++place;
  }
  return place < text.size() ? place + 1 : text.size();
}

// The tree of a text. Gumbo has no limits, takes time by the square of depth and attributes, frees a tree by recursion
// and cannot take a failed allocation. So its allocator counts, and leaves Gumbo by a jump; all memory is freed at
// once.
class Tree {
 public:
  explicit Tree(std::string_view html, GumboTag parent = GUMBO_TAG_LAST) : html_(html) {
    GumboOptions options = kGumboDefaultOptions;
    options.allocator = [](void* self, std::size_t size) { return static_cast<Tree*>(self)->allocate(size); };
    options.deallocator = [](void* self, void* block) { static_cast<Tree*>(self)->deallocate(block); };
    options.userdata = this;
    options.max_errors = 0;
    options.fragment_context = parent;
    check_roots();
    if (setjmp(stop_) != 0) refuse();
    output_ = gumbo_parse_with_options(&options, html.data(), html.size());
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const GumboNode* document() const { return output_->document; }
  const GumboElement& root() const { return output_->root->v.element; }

 private:
  static constexpr std::size_t kMaxDepth = 256, kMaxAttributes = 128, kMaxRootBytes = 1 << 17,
                               kMaxBytes = std::size_t{1} << 31;

  // Gumbo gives an element the attributes of all its tags.
  void check_roots() {
    std::size_t bytes = 0;
    for (std::size_t i = html_.find('<'); i != html_.npos && bytes <= kMaxRootBytes; i = html_.find('<', i + 1)) {
      const std::string name = lower_case(html_.substr(i + 1, 4));
      if (name == "html" || name == "body") bytes += tag_size(html_.substr(i));
      at_ = html_.data() + i;
    }
    if (bytes <= kMaxRootBytes) return;
    refusal_ = "tags html and body with more than 128 KiB, expected less";
    refuse();
  }
  void* allocate(std::size_t size) {
    void* block = nullptr;
    try {
      block = memory_.allocate(size);
      if (size == sizeof(GumboNode)) {
        void*& oldest = recent_[nodes_++ % recent_.size()];
        if (oldest != nullptr) take_depth(oldest);
        oldest = std::memset(block, 0, size);
      }
    } catch (const std::bad_alloc&) {  // a jump from here would not free the exception
      block = nullptr;
    }
    bytes_ += size;
    if (size == sizeof(GumboNode)) attributes_ = 0;
    if (size == sizeof(GumboAttribute) && attributes_++ == 0) first_attribute_ = block;
    if (attributes_ > kMaxAttributes) refusal_ = "an element with more than 128 attributes, expected fewer";
    if (bytes_ > std::min(kMaxBytes, (1 << 26) + 64 * html_.size()))
      refusal_ = "elements that are repeated, expected fewer";
    if (block == nullptr) refusal_ = "not enough memory for its elements";
    if (refusal_ != nullptr) std::longjmp(stop_, 1);
    return block;
  }
  void deallocate(const void* block) {
    if (block == first_attribute_) attributes_ = 0;  // Gumbo ignores this tag
  }
  // Takes the depth of a node. A clone may be put under a later one; then it counts as deeper than the node before it.
  // Other memory may have the size of a node, so nothing is read through its pointers.
  void take_depth(const void* block) {
    GumboNode node;
    std::memcpy(&node, block, sizeof(node));
    const auto parent = depths_.find(node.parent);
    depth_ = 1 + (parent == depths_.end() ? depth_ : parent->second);
    depths_.emplace(block, depth_);
    for (const char* at : {node.v.text.original_text.data, node.v.element.original_tag.data}) {
      if (!std::less<>()(at, html_.data()) && std::less<>()(at, html_.data() + html_.size())) at_ = at;
    }
    if (depth_ > kMaxDepth) refusal_ = "an element inside 256 others, expected fewer";
  }
  [[noreturn]] void refuse() const {
    throw InputError(fmt::format("line {}: {}", 1 + std::count(html_.data(), at_, '\n'), refusal_));
  }

  std::string_view html_;
  std::pmr::monotonic_buffer_resource memory_;
  std::size_t bytes_ = 0, nodes_ = 0, depth_ = 0, attributes_ = 0;
  std::unordered_map<const void*, std::size_t> depths_;
  std::array<void*, 8> recent_ = {};  // nodes that may have no parent yet
  const void* first_attribute_ = nullptr;
  const char *refusal_ = nullptr, *at_ = html_.data();  // at_: the last node
  std::jmp_buf stop_;
  const GumboOutput* output_ = nullptr;
};

std::string attribute(const GumboElement& element, const char* name) {
  const GumboAttribute* found = gumbo_get_attribute(&element.attributes, name);
  return found == nullptr ? "" : lower_case(found->value);
}

std::string charset_of(const GumboElement& meta) {
  const bool is_type = attribute(meta, "http-equiv") == "content-type";
  const std::string content = is_type ? attribute(meta, "content") : "charset=" + attribute(meta, "charset");
  const std::size_t begin = content.find("charset=");
  return begin == content.npos ? "" : content.substr(begin + 8, content.find_first_of(" ;", begin) - begin - 8);
}

class Parts {
 public:
  void add_text(std::string_view bytes, HtmlUse use) {
    if (bytes.empty()) return;
    if (use == HtmlUse::reading) return add_reading(bytes);
    HtmlPart& added = part(use == HtmlUse::translate, bytes);
    added.segment.text += added.is_text ? unescape_html(bytes) : std::string(bytes);
  }
  void add_markup(std::string_view bytes, HtmlUse use) {
    add_text(bytes, use == HtmlUse::reading ? use : HtmlUse::keep);
  }
  void add_tag(std::string_view bytes, bool is_alone, HtmlUse use) {
    const std::string name = tag_name(bytes);
    if (use != HtmlUse::translate || !has_word(kInline, name) || tags_ == kMaxTags) return add_markup(bytes, use);
    const bool is_end = bytes.starts_with("</");
    const bool is_last = is_end && !open_.empty() && open_.back().first == name;
    std::vector<InlineCode>& codes = is_last && is_reading_ ? extend(bytes) : add_code(bytes);
    is_reading_ = false;
    if (is_last) {
      codes.back().partner = open_.back().second;
      codes[open_.back().second].partner = codes.size() - 1;
      open_.pop_back();
    } else if (!is_end && !is_alone && !has_word(kVoid, name)) {
      open_.emplace_back(name, codes.size() - 1);
    }
  }
  std::vector<HtmlPart> take() { return std::move(parts_); }

 private:
  static constexpr std::size_t kMaxTags = 1 << 16;  // later ones are markup, which takes less memory

  HtmlPart& part(bool is_text, std::string_view bytes) {
    if (parts_.empty() || parts_.back().is_text != is_text) {
      parts_.push_back({.is_text = is_text, .segment = {}});
      open_.clear();
    }
    is_reading_ = false;
    parts_.back().bytes += bytes.size();
    return parts_.back();
  }
  std::vector<InlineCode>& add_code(std::string_view bytes) {
    ++tags_;
    HtmlPart& added = part(true, bytes);
    added.places.push_back(added.bytes - bytes.size());
    Segment& text = added.segment;
    text.codes.push_back({.place = text.text.size(), .markup = std::string(bytes)});
    return text.codes;
  }
  // Adds to the last code. A reading stays with the end of its base.
  std::vector<InlineCode>& extend(std::string_view bytes) {
    HtmlPart& last = parts_.back();
    last.bytes += bytes.size();
    last.segment.codes.back().markup += bytes;
    return last.segment.codes;
  }
  void add_reading(std::string_view bytes) {
    if (!is_reading_ && tags_ == kMaxTags) return add_text(bytes, HtmlUse::keep);
    is_reading_ ? extend(bytes) : add_code(bytes);
    is_reading_ = true;
  }

  std::vector<HtmlPart> parts_;
  std::size_t tags_ = 0;
  bool is_reading_ = false;                                // the last piece is a reading, which may grow
  std::vector<std::pair<std::string, std::size_t>> open_;  // inline elements of the last text: name, index of tag
};

}  // namespace

HtmlUse html_use(HtmlUse parent, std::string_view name, std::string_view translate, std::string_view classes) {
  if (parent == HtmlUse::reading || has_word(kVoid, name)) return parent;
  if (translate == "no" || has_word(classes, "notranslate")) return HtmlUse::keep;
  if (translate != "yes" && has_word(kCode, name)) return HtmlUse::keep;
  if (translate != "yes" && parent == HtmlUse::keep) return parent;
  return has_word(kReading, name) ? HtmlUse::reading : HtmlUse::translate;
}

HtmlPage read_html_page(std::string_view html) {
  HtmlPage page;
  const Tree tree(html.substr(html.starts_with("\ufeff") ? 3 : 0));
  const auto place_of = [html](const char* data) { return static_cast<std::size_t>(data - html.data()); };
  const auto add = [&](GumboStringPiece part, HtmlMark::Kind kind, HtmlUse use) {
    const std::size_t begin = part.length == 0 ? 0 : place_of(part.data);
    const std::size_t end = begin + (kind == HtmlMark::Kind::text ? 0 : part.length);
    if (part.length > 0) page.marks.push_back({.begin = begin, .end = end, .kind = kind, .use = use});
    return end;
  };
  const auto add_element = [&](const GumboElement& element, HtmlUse parent) {
    const auto& [tag, end_tag] = std::pair(element.original_tag, element.original_end_tag);
    const std::string name = tag.length == 0 ? gumbo_normalized_tagname(element.tag) : tag_name({tag.data, tag.length});
    const HtmlUse use = html_use(parent, name, attribute(element, "translate"), attribute(element, "class"));
    const std::size_t begin = add(tag, HtmlMark::Kind::tag, use);
    add(end_tag, HtmlMark::Kind::tag, use);  // also of elements inside, which come later
    if (tag.length > 0 && element.tag_namespace == GUMBO_NAMESPACE_HTML && has_word(kRaw, name)) {
      const HtmlMark::Kind kind = has_word(kCode, name) ? HtmlMark::Kind::other : HtmlMark::Kind::text;
      const std::size_t end = end_tag.length > 0 ? place_of(end_tag.data) : html.size();
      page.marks.push_back({.begin = begin, .end = end, .kind = kind, .use = use});
    }
    if (name == "meta" && page.charset.empty()) page.charset = charset_of(element);
    return use;
  };
  std::vector<std::pair<const GumboNode*, HtmlUse>> open = {{tree.document(), HtmlUse::translate}};
  while (!open.empty()) {
    auto [node, use] = open.back();
    open.pop_back();
    const bool is_document = node->type == GUMBO_NODE_DOCUMENT, is_comment = node->type == GUMBO_NODE_COMMENT;
    if (!is_document && node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE) {
      add(node->v.text.original_text, is_comment ? HtmlMark::Kind::other : HtmlMark::Kind::text, use);
      continue;
    }
    if (!is_document) use = add_element(node->v.element, use);
    const GumboVector& children = is_document ? node->v.document.children : node->v.element.children;
    for (unsigned i = children.length; i-- > 0;) {  // in order: a clone is not before its original
      open.emplace_back(static_cast<const GumboNode*>(children.data[i]), use);
    }
  }
  std::ranges::stable_sort(page.marks, {}, &HtmlMark::begin);
  for (const char* name : {"lang", "xml:lang"}) {
    const GumboAttribute* found = gumbo_get_attribute(&tree.root().attributes, name);
    if (found == nullptr || found->original_value.length == 0) continue;
    const std::string_view value(found->original_value.data, found->original_value.length);
    const std::size_t quote = value.find_first_of("\"'") == 0 ? 1 : 0, begin = place_of(value.data());
    page.languages.emplace_back(begin + quote, begin + value.size() - quote);
  }
  return page;
}

std::vector<HtmlPart> parts_of(std::string_view html, const std::vector<HtmlMark>& marks) {
  Parts parts;
  HtmlUse use = HtmlUse::translate;  // the use of text at `place`
  auto mark = marks.begin();
  for (std::size_t place = 0; place < html.size();) {
    while (mark != marks.end() && mark->begin < place) ++mark;
    const std::string_view rest = html.substr(place);
    if (mark != marks.end() && mark->begin == place) {
      const std::string_view bytes = rest.substr(0, mark->end - place);
      switch (mark->kind) {
        case HtmlMark::Kind::text: parts.add_text(bytes, use = mark->use); break;
        case HtmlMark::Kind::other: parts.add_markup(bytes, mark->use); break;
        default: parts.add_tag(bytes, mark->kind == HtmlMark::Kind::alone, mark->use);
      }
      place = mark++->end;
    } else if (rest[0] == '<' && !tag_name(rest).empty()) {  // a tag that the parser ignores
      const std::size_t size = tag_size(rest);
      parts.add_tag(rest.substr(0, size), false, use);
      place += size;
    } else if (rest.starts_with("<!") || rest.starts_with("<?") || rest.starts_with("</>")) {
      const std::string_view end = rest.starts_with("<![CDATA[") ? "]]>" : ">";
      const std::size_t size = std::min(rest.find(end), rest.size() - end.size()) + end.size();
      parts.add_markup(rest.substr(0, size), use);
      place += size;
    } else {
      const std::size_t next = mark == marks.end() ? html.size() : mark->begin;
      const std::size_t size = std::min(rest.find('<', 1), next - place);
      parts.add_text(rest.substr(0, size), use);
      place += size;
    }
  }
  return parts.take();
}

std::vector<HtmlPart> parse_html(std::string_view html) {
  return parts_of(html, read_html_page(html).marks);
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
  std::string html;
  for (const char c : text) c == '<' ? html += "&lt;" : html += c;
  const Tree tree(html, GUMBO_TAG_BODY);
  std::string plain;
  const GumboVector& children = tree.root().children;
  for (unsigned i = 0; i < children.length; ++i) {
    const auto* child = static_cast<const GumboNode*>(children.data[i]);
    if (child->type == GUMBO_NODE_TEXT || child->type == GUMBO_NODE_WHITESPACE) plain += child->v.text.text;
  }
  return find_invalid_utf8(plain) ? std::string(text) : plain;  // a number may be too large for Gumbo
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

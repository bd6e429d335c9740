#include "encdec/translation/text/html.h"

#include <fmt/format.h>
#include <gumbo.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <unordered_map>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/text/word_list.h"

namespace encdec {
namespace {

constexpr std::string_view kSpaces = " \t\n\f\r";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Void elements, which have no end tag.
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
// Elements that contain a ruby reading.
constexpr std::string_view kReading = "rp rt rtc";

// Returns the size of the tag at the beginning of a text, or the size of the text if the tag has no end.
std::size_t tag_size(std::string_view text) {
  std::size_t position = text.find_first_of(" \t\n\f\r/>");
  while ((position = text.find_first_not_of(" \t\n\f\r/", position)) < text.size() && text[position] != '>') {
    position = text.find_first_not_of(kSpaces, text.find_first_of(" \t\n\f\r/>=", position + 1));
    if (position >= text.size() || text[position] != '=') continue;
    position = text.find_first_not_of(kSpaces, position + 1);
    if (position >= text.size()) break;
    const bool is_quoted = text[position] == '"' || text[position] == '\'';  // a quoted value may contain '>'
    position = is_quoted ? text.find(text[position], position + 1) : text.find_first_of(" \t\n\f\r>", position);
    if (is_quoted && position < text.size()) ++position;
  }
  return position < text.size() ? position + 1 : text.size();
}

// The parsed tree of a text. Gumbo has no limits, needs time quadratic in the depth and in the number of attributes,
// and frees trees recursively. So this class is the allocator of Gumbo: it enforces limits, and frees all memory at
// once. Exceptions may propagate through Gumbo, because Gumbo has no other memory.
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
    output_ = gumbo_parse_with_options(&options, html.data(), html.size());
  }

  const GumboNode* document() const { return output_->document; }
  const GumboElement& root() const { return output_->root->v.element; }

 private:
  static constexpr std::size_t kMaxDepth = 256, kMaxAttributes = 128, kMaxRootBytes = 1 << 17,
                               kMaxBytes = std::size_t{1} << 31;

  // Limits the size of all tags <html> and <body>, because Gumbo merges the attributes of repeated tags.
  void check_roots() {
    std::size_t bytes = 0;
    for (std::size_t i = html_.find('<'); i < html_.size(); i = html_.find('<', i + 1)) {
      const std::string name = lower_case(html_.substr(at_ = i + 1, 4));
      if (name == "html" || name == "body") bytes += tag_size(html_.substr(i));
      if (bytes > kMaxRootBytes) refuse("tags html and body with more than 128 KiB, expected less");
    }
  }
  // Recognises attributes and nodes by the size of the block. The parent of a new node is not set yet, so the depth of
  // the node is computed after 8 more nodes are allocated.
  void* allocate(std::size_t size) {
    void* block = memory_.allocate(size);
    bytes_ += size;
    if (size == sizeof(GumboAttribute) && attributes_++ == 0) first_attribute_ = block;
    if (size == sizeof(GumboNode)) {
      void*& oldest = recent_[nodes_++ % recent_.size()];
      if (oldest != nullptr) take_depth(oldest);
      oldest = std::memset(block, 0, size);
      attributes_ = 0;
    }
    if (attributes_ > kMaxAttributes) refuse("an element with more than 128 attributes, expected fewer");
    if (bytes_ > std::min(kMaxBytes, (1 << 26) + 64 * html_.size())) {
      refuse("repeated elements that take too much memory, expected fewer");
    }
    return block;
  }
  void deallocate(const void* block) {
    if (block == first_attribute_) attributes_ = 0;  // Gumbo discards the tag with these attributes
  }
  // Computes a node's depth from its parent's depth or, if a clone has no parent yet, from the previous node's depth.
  // Does not follow pointers in the block, because the block may be another object of the same size.
  void take_depth(const void* block) {
    GumboNode node;
    std::memcpy(&node, block, sizeof(node));
    const auto parent = depths_.find(node.parent);
    depth_ = 1 + (parent == depths_.end() ? depth_ : parent->second);
    depths_.emplace(block, depth_);
    const auto tag = reinterpret_cast<std::uintptr_t>(node.v.element.original_tag.data);
    const std::size_t at = tag - reinterpret_cast<std::uintptr_t>(html_.data());
    if (at < html_.size()) at_ = at;
    if (depth_ > kMaxDepth) refuse("an element inside 256 others, expected fewer");
  }
  [[noreturn]] void refuse(const char* what) const {
    throw InputError(fmt::format("line {}: {}", 1 + std::ranges::count(html_.substr(0, at_), '\n'), what));
  }

  std::string_view html_;
  std::pmr::monotonic_buffer_resource memory_;
  std::size_t at_ = 0;  // offset of the last element, for error messages
  std::size_t bytes_ = 0, nodes_ = 0, depth_ = 0, attributes_ = 0;
  std::unordered_map<const void*, std::size_t> depths_;
  std::array<void*, 8> recent_ = {};  // nodes that may not have a parent yet
  const void* first_attribute_ = nullptr;
  const GumboOutput* output_ = nullptr;
};

std::string attribute(const GumboElement& element, const char* name) {
  const GumboAttribute* found = gumbo_get_attribute(&element.attributes, name);
  return found == nullptr ? "" : lower_case(found->value);
}

// Returns the charset that a <meta> element declares, or "" if the element declares none.
std::string charset_of(const GumboElement& meta) {
  const bool is_type = attribute(meta, "http-equiv") == "content-type";
  const std::string content = is_type ? attribute(meta, "content") : "charset=" + attribute(meta, "charset");
  const std::size_t begin = content.find("charset=");
  return begin == content.npos ? "" : content.substr(begin + 8, content.find_first_of(" ;", begin) - begin - 8);
}

// Collects tokens: pairs inline tags, joins the tokens of a ruby reading, and marks other tags and kept text as markup.
class TokenList {
 public:
  explicit TokenList(std::string_view html) : html_(html) {}

  void add(HtmlToken token) {
    if (token.begin == token.end) return;
    const std::string_view bytes = html_.substr(token.begin, token.end - token.begin);
    const bool is_tag = token.kind == HtmlToken::Kind::tag || token.kind == HtmlToken::Kind::alone;
    const bool is_reading = token.use == HtmlUse::reading, is_text = token.use == HtmlUse::translate;
    const std::string name = is_tag && is_text ? tag_name(bytes) : "";
    const bool has_end = !bytes.starts_with("</") && token.kind == HtmlToken::Kind::tag && !has_word(kVoid, name);
    const bool is_last = bytes.starts_with("</") && !open_.empty() && open_.back().first == name;
    if (is_reading_ && (is_reading || is_last)) {  // an end tag such as </ruby> also extends the reading
      tokens_.back().end = token.end;
    } else {
      if ((is_reading || has_word(kInline, name)) && codes_++ < kMaxCodes) {
        token.kind = HtmlToken::Kind::tag;
      } else if (!is_text || token.kind != HtmlToken::Kind::text) {
        token.kind = HtmlToken::Kind::other;
        open_.clear();
      }
      tokens_.push_back(token);
    }
    const std::size_t last = tokens_.size() - 1;
    is_reading_ = is_reading && tokens_[last].kind == HtmlToken::Kind::tag;
    if (is_reading || tokens_[last].kind != HtmlToken::Kind::tag) return;
    // Pair an end tag with its start tag, or record a start tag as open.
    if (is_last) {
      tokens_[last].partner = open_.back().second;
      tokens_[open_.back().second].partner = last;
      open_.pop_back();
    } else if (has_end) {
      open_.emplace_back(name, last);
    }
  }
  std::vector<HtmlToken> take() { return std::move(tokens_); }

 private:
  static constexpr std::size_t kMaxCodes = 1 << 16;  // tags after the first kMaxCodes are markup, to limit memory

  std::string_view html_;
  std::vector<HtmlToken> tokens_;
  std::size_t codes_ = 0;
  bool is_reading_ = false;                                // the next token may extend the reading in the last token
  std::vector<std::pair<std::string, std::size_t>> open_;  // name and index of each open tag
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
  const auto add = [&](GumboStringPiece part, HtmlToken::Kind kind, HtmlUse use) {
    if (part.length == 0) return;
    const std::size_t begin = place_of(part.data), size = kind == HtmlToken::Kind::text ? 0 : part.length;
    page.found.push_back({.begin = begin, .end = begin + size, .kind = kind, .use = use});
  };
  const auto add_element = [&](const GumboElement& element, HtmlUse parent) {
    const auto& [tag, end_tag] = std::pair(element.original_tag, element.original_end_tag);
    const std::string name = tag.length == 0 ? gumbo_normalized_tagname(element.tag) : tag_name({tag.data, tag.length});
    const HtmlUse use = html_use(parent, name, attribute(element, "translate"), attribute(element, "class"));
    add(tag, HtmlToken::Kind::tag, use);
    add(end_tag, HtmlToken::Kind::tag, use);  // inner elements may repeat this tag; tokens_of() uses the first copy
    if (tag.length > 0 && element.tag_namespace == GUMBO_NAMESPACE_HTML && has_word(kRaw, name)) {
      const HtmlToken::Kind kind = has_word(kCode, name) ? HtmlToken::Kind::other : HtmlToken::Kind::text;
      const std::size_t end = end_tag.length > 0 ? place_of(end_tag.data) : html.size();
      page.found.push_back({.begin = place_of(tag.data + tag.length), .end = end, .kind = kind, .use = use});
    }
    if (name == "meta" && page.charset.empty()) page.charset = charset_of(element);
    return use;
  };
  // Visit the tree depth first, without recursion.
  std::vector<std::pair<const GumboNode*, HtmlUse>> open = {{tree.document(), HtmlUse::translate}};
  while (!open.empty()) {
    auto [node, use] = open.back();
    open.pop_back();
    const bool is_document = node->type == GUMBO_NODE_DOCUMENT, is_comment = node->type == GUMBO_NODE_COMMENT;
    if (!is_document && node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE) {
      add(node->v.text.original_text, is_comment ? HtmlToken::Kind::other : HtmlToken::Kind::text, use);
      continue;
    }
    if (!is_document) use = add_element(node->v.element, use);
    const GumboVector& children = is_document ? node->v.document.children : node->v.element.children;
    for (unsigned i = children.length; i-- > 0;) {  // backwards, so that originals are visited before clones
      open.emplace_back(static_cast<const GumboNode*>(children.data[i]), use);
    }
  }
  std::ranges::stable_sort(page.found, {}, &HtmlToken::begin);
  // Find the language attributes of the root element, without quotes.
  for (const char* name : {"lang", "xml:lang"}) {
    const GumboAttribute* found = gumbo_get_attribute(&tree.root().attributes, name);
    if (found == nullptr || found->original_value.length == 0) continue;
    const auto& [data, size] = found->original_value;
    const std::size_t begin = place_of(data), quote = *data == '"' || *data == '\'' ? 1 : 0;
    page.languages.emplace_back(begin + quote, begin + size - quote);
  }
  return page;
}

std::vector<HtmlToken> tokens_of(std::string_view html, const std::vector<HtmlToken>& found) {
  TokenList tokens(html);
  HtmlUse use = HtmlUse::translate;  // use of a text that begins at `position`
  auto token = found.begin();
  for (std::size_t position = 0; position < html.size();) {
    while (token != found.end() && token->begin < position) ++token;
    const std::string_view rest = html.substr(position);
    HtmlToken next = {.begin = position, .use = use};
    if (token != found.end() && token->begin == position) {
      next = *token++;
      if (next.kind == HtmlToken::Kind::text) use = next.use;
    } else if (rest[0] == '<' && rest.substr(0, 3).find_first_of(kLetters) == (rest.starts_with("</") ? 2 : 1)) {
      next.kind = HtmlToken::Kind::tag;  // a tag that the parser dropped
      next.end = position + tag_size(rest);
    } else if (rest.starts_with("<!") || rest.starts_with("<?") || rest.starts_with("</>")) {
      const std::string_view end = rest.starts_with("<![CDATA[") ? "]]>" : ">";
      next.kind = HtmlToken::Kind::other;
      next.end = position + std::min(rest.find(end), rest.size() - end.size()) + end.size();
    } else {
      next.end = std::min({html.find('<', position + 1), token == found.end() ? html.npos : token->begin, html.size()});
    }
    tokens.add(next);
    position = next.end;
  }
  return tokens.take();
}

std::vector<HtmlPart> parse_html(std::string_view html) {
  const std::vector<HtmlToken> tokens = tokens_of(html, read_html_page(html).found);
  std::vector<HtmlPart> parts;
  std::vector<std::size_t> number(tokens.size());  // index of each code in its part
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& [begin, end, kind, use, partner] = tokens[i];
    const std::string bytes(html.substr(begin, end - begin));
    const bool is_text = kind != HtmlToken::Kind::other;
    // Join adjacent texts and inline tags to one part, and adjacent markup to one part.
    if (parts.empty() || parts.back().is_text != is_text) parts.push_back({.is_text = is_text, .segment = {}});
    HtmlPart& part = parts.back();
    std::string& text = part.segment.text;
    if (kind != HtmlToken::Kind::tag) {
      text += is_text ? unescape_html(bytes) : bytes;
      continue;
    }
    std::vector<InlineCode>& codes = part.segment.codes;
    number[i] = codes.size();
    codes.push_back({.position = text.size(), .markup = bytes});
    if (!partner || *partner > i) continue;
    codes.back().partner = number[*partner];
    codes[number[*partner]].partner = number[i];
  }
  return parts;
}

std::string write_html(const HtmlPart& part) {
  const std::string_view text = part.segment.text;
  if (!part.is_text) return std::string(text);
  std::string html;
  std::size_t begin = 0;
  for (const InlineCode& code : part.segment.codes) {
    html += escape_html(text.substr(begin, code.position - begin)) + code.markup;
    begin = code.position;
  }
  return html + escape_html(text.substr(begin));
}

std::string tag_name(std::string_view text) {
  const std::size_t begin = std::min<std::size_t>(text.starts_with("</") ? 2 : 1, text.size());
  return lower_case(text.substr(begin, text.find_first_of(" \t\n\f\r/>", begin) - begin));
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
  return find_invalid_utf8(plain) ? std::string(text) : plain;  // Gumbo may decode a numeric entity to invalid UTF-8
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string_view(&c, 1);
  }
  return escaped;
}

}  // namespace encdec

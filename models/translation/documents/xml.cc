#include "encdec/models/translation/documents/xml.h"

#include <expat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/lower_case.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/translation/text/html.h"

namespace encdec::documents {
namespace {

constexpr std::size_t kMaxDepth = 256;

// Collects the tokens that expat reports.
class Collector {
 public:
  Collector(std::string_view bytes, const std::string& name, std::vector<XmlToken>& tokens)
      : bytes_(bytes), name_(name), tokens_(tokens), parser_(XML_ParserCreate("UTF-8"), XML_ParserFree) {
    if (parser_ == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(), [](void* self, const char*, const char**) { of(self).start(); },
        [](void* self, const char*) { of(self).end(); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const char*, int) {
      of(self).add(of(self).in_cdata_ ? XmlToken::Kind::other : XmlToken::Kind::text);
    });
    XML_SetDefaultHandler(parser_.get(), [](void* self, const char*, int) { of(self).add(XmlToken::Kind::other); });
    XML_SetCdataSectionHandler(
        parser_.get(), [](void* self) { of(self).begin_cdata(); }, [](void* self) { of(self).end_cdata(); });
    XML_SetXmlDeclHandler(parser_.get(), [](void* self, const char*, const char* encoding, int) {
      if (encoding != nullptr && lower_case(encoding) != "utf-8")
        of(self).stop("encoding is not UTF-8, expected UTF-8");
    });
    XML_SetEntityDeclHandler(parser_.get(),
                             [](void* self, const char*, int, const char*, int, const char*, const char*, const char*,
                                const char*) { of(self).stop("declaration of an entity, expected none"); });
  }

  void parse() {
    if (bytes_.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      refuse(name_, "{} bytes of XML, expected less than 2 GiB", bytes_.size());
    }
    const XML_Status status = XML_Parse(parser_.get(), bytes_.data(), static_cast<int>(bytes_.size()), 1);
    if (!refusal_.empty()) refuse_at(name_, bytes_, place(), refusal_);
    if (status == XML_STATUS_OK) return;
    refuse_at(name_, bytes_, place(),
              fmt::format("{}, expected well-formed XML", XML_ErrorString(XML_GetErrorCode(parser_.get()))));
  }

 private:
  static Collector& of(void* self) { return *static_cast<Collector*>(self); }

  std::size_t place() const {
    const XML_Index index = XML_GetCurrentByteIndex(parser_.get());
    return index < 0 ? 0 : static_cast<std::size_t>(index);
  }
  void stop(const char* refusal) {
    refusal_ = refusal;
    XML_StopParser(parser_.get(), XML_FALSE);
  }
  void add(XmlToken::Kind kind) {
    const std::size_t begin = place(), end = begin + static_cast<std::size_t>(XML_GetCurrentByteCount(parser_.get()));
    XmlToken* last = tokens_.empty() ? nullptr : &tokens_.back();
    const bool goes_on =
        in_cdata_ || (kind == XmlToken::Kind::text && last != nullptr && last->kind == kind && !is_cdata_);
    if (last != nullptr && goes_on && last->range.end == begin) {
      last->range.end = end;
      return;
    }
    tokens_.push_back({.kind = kind, .range = {begin, end}, .partner = 0});
    is_cdata_ = false;
  }
  void begin_cdata() {
    add(XmlToken::Kind::other);
    tokens_.back().kind = XmlToken::Kind::text;
    in_cdata_ = true;
  }
  void end_cdata() {
    tokens_.back().range.end = place() + 3;  // "]]>"
    in_cdata_ = false;
    is_cdata_ = true;
  }
  void start() {
    if (open_.size() == kMaxDepth) return stop("element inside 256 others, expected fewer");
    add(XmlToken::Kind::start);
    open_.push_back(tokens_.size() - 1);
  }
  void end() {
    const std::size_t start = open_.back();
    open_.pop_back();
    add(XmlToken::Kind::end);
    tokens_.back().partner = start;
    tokens_[start].partner = tokens_.size() - 1;
  }

  std::string_view bytes_;
  const std::string& name_;
  std::vector<XmlToken>& tokens_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::vector<std::size_t> open_;
  std::string refusal_;
  bool in_cdata_ = false;
  bool is_cdata_ = false;  // the last token is a CDATA section
};

}  // namespace

XmlTokens::XmlTokens(std::string_view bytes, const std::string& name) : bytes_(bytes) {
  Collector(bytes, name, tokens_).parse();
}

std::string_view XmlTokens::prefix(std::size_t i) const {
  if (!is_start(i)) return {};
  const std::string_view tag = bytes_of(i);
  const std::string_view whole = tag.substr(1, tag.find_first_of(" \t\r\n/>") - 1);
  return whole.substr(0, whole.find(':') + 1);
}

std::string_view XmlTokens::name(std::size_t i) const {
  if (!is_start(i)) return {};
  const std::string_view tag = bytes_of(i);
  const std::string_view whole = tag.substr(1, tag.find_first_of(" \t\r\n/>") - 1);
  return whole.substr(whole.find(':') + 1);
}

std::optional<ByteRange> XmlTokens::attribute_place(std::size_t i, std::string_view name) const {
  const std::string_view tag = bytes_of(i);
  std::size_t place = tag.find_first_of(kWhiteSpace);
  while (place < tag.size()) {
    place = tag.find_first_not_of(kWhiteSpace, place);
    const std::size_t equals = tag.find('=', place);
    if (place == tag.npos || equals == tag.npos) return std::nullopt;
    const std::size_t quote = tag.find_first_of("\"'", equals);
    const std::size_t end = quote == tag.npos ? quote : tag.find(tag[quote], quote + 1);
    if (end == tag.npos) return std::nullopt;
    const std::string_view found = tag.substr(place, equals - place);
    if (found.substr(0, found.find_last_not_of(kWhiteSpace) + 1) == name) {
      const std::size_t begin = tokens_[i].range.begin;
      return ByteRange{begin + quote + 1, begin + end};
    }
    place = end + 1;
  }
  return std::nullopt;
}

std::string XmlTokens::attribute(std::size_t i, std::string_view name) const {
  const auto place = attribute_place(i, name);
  return place ? unescape_xml(at(*place)) : "";
}

std::optional<std::size_t> XmlTokens::child(std::size_t i, std::string_view name) const {
  for (std::size_t j = i + 1; j < tokens_[i].partner; ++j) {
    if (!is_start(j)) continue;
    if (this->name(j) == name) return j;
    j = tokens_[j].partner;
  }
  return std::nullopt;
}

std::vector<Item> XmlTokens::items(std::size_t i, const std::function<Inline(std::size_t)>& kind_of) const {
  std::vector<Item> items;
  std::vector<std::size_t> open;
  for (std::size_t j = i + 1; j < tokens_[i].partner; ++j) {
    const XmlToken& token = tokens_[j];
    Item item{.kind = Item::Kind::single, .range = token.range};
    if (token.kind == XmlToken::Kind::text) item.kind = Item::Kind::text;
    if (token.kind == XmlToken::Kind::end) {
      item.kind = Item::Kind::close;
      item.partner = open.back();
      items[open.back()].partner = items.size();
      open.pop_back();
    } else if (token.kind == XmlToken::Kind::start) {
      const Inline kind = kind_of(j);
      const bool is_empty = tokens_[token.partner].range.begin == tokens_[token.partner].range.end;
      if (kind == Inline::pair && !is_empty) {
        item.kind = Item::Kind::open;
        open.push_back(items.size());
      } else {
        item.range = element(j);
        item.content = kind == Inline::placeholder ? content(j) : item.range;
        item.is_break = kind == Inline::line_break;
        j = token.partner;
        if (kind == Inline::placeholder && !is_empty) item.kind = Item::Kind::placeholder;
      }
    }
    items.push_back(std::move(item));
  }
  return items;
}

void XmlTokens::set_attribute(std::size_t i, std::string_view name, std::string_view value,
                              std::vector<Edit>& edits) const {
  std::string escaped;
  for (const char c : value) escaped += c == '"' ? "&quot;" : escape_xml({&c, 1});
  if (const auto place = attribute_place(i, name)) {
    edits.push_back({.range = *place, .pieces = {{.text = escaped}}});
    return;
  }
  const std::size_t end = tokens_[i].range.end - (bytes_of(i).ends_with("/>") ? 2 : 1);
  edits.push_back({.range = {end, end}, .pieces = {{.text = fmt::format(" {}=\"{}\"", name, escaped)}}});
}

std::string unescape_xml(std::string_view text) {
  constexpr std::string_view kCdata = "<![CDATA[";
  if (text.starts_with(kCdata)) return std::string(text.substr(kCdata.size(), text.size() - kCdata.size() - 3));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames = {{{"amp", "&"},
                                                                                    {"lt", "<"},
                                                                                    {"gt", ">"},
                                                                                    {"quot", "\""},
                                                                                    {"apos", "'"},
                                                                                    {"nbsp", "\u00a0"},
                                                                                    {"lrm", "\u200e"},
                                                                                    {"rlm", "\u200f"}}};
  constexpr std::size_t kMostBytes = 12;  // maximum size of an entity
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i, kMostBytes);
    const std::size_t end = rest.front() == '&' ? rest.find(';') : rest.npos;
    if (end == rest.npos) {
      const bool is_crlf = rest.starts_with("\r\n");
      plain += rest.front() == '\r' ? '\n' : rest.front();
      if (is_crlf) ++i;
      continue;
    }
    const std::string_view name = rest.substr(1, end - 1);
    const auto found = std::ranges::find(kNames, name, &std::pair<std::string_view, std::string_view>::first);
    const std::size_t digits = name.starts_with("#x") ? 2 : 1;
    std::uint32_t number = 0;
    if (name.starts_with('#')) {
      std::from_chars(name.data() + digits, name.data() + name.size(), number, digits == 2 ? 16 : 10);
    }
    const bool is_character = number > 0 && number < 0x110000 && (number < 0xd800 || number > 0xdfff);
    if (found != kNames.end()) {
      plain += found->second;
    } else if (is_character) {
      append_utf8(plain, number);
    } else {
      plain += rest.substr(0, end + 1);
    }
    i += end;
  }
  return plain;
}

std::string escape_xml(std::string_view text) {
  return escape_html(text);
}

}  // namespace encdec::documents

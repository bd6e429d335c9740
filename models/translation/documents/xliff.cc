// XLIFF 1.2 and 2. A unit with parts (seg-source) is one text, whose parts are pairs of codes.
#include <algorithm>
#include <array>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/translation/documents/placeholders.h"
#include "encdec/models/translation/documents/xml.h"

namespace encdec::documents {
namespace {

// A source without a translation.
struct Unit {
  std::size_t source = 0;  // indices of tokens
  std::optional<std::size_t> target = {};
  std::size_t before = 0;  // a new target follows this element
  std::size_t holder = 0;  // the element with the attribute "state" if there is a target
};

class Xliff final : public TextFile {
 public:
  Xliff(std::string_view bytes, const std::string& name, const DocumentOptions& options)
      : TextFile(bytes), options_(options), xml_(bytes, name) {
    root_ = 0;
    while (root_ < xml_.size() && !xml_.is_start(root_)) ++root_;
    if (xml_.name(root_) != "xliff") refuse_at(name, bytes, xml_[root_].range.begin, "no element xliff, expected one");
    is_2_ = xml_.attribute(root_, "version").starts_with('2');
    for (std::size_t i = root_; i < xml_.size(); ++i) {
      if (xml_.name(i) == "file" && !is_2_) files_.push_back(i);
      if (!xml_.is_start(i)) continue;
      if (xml_.attribute(i, "translate") == "no") {
        i = xml_[i].partner;
      } else if (xml_.name(i) == (is_2_ ? "segment" : "trans-unit")) {
        add_unit(i);
        i = xml_[i].partner;
      }
    }
  }

  Nesting nesting() const override { return Nesting::strict; }
  bool has_targets() const override { return true; }

  std::string edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    const Unit& unit = units_[text];
    const ByteRange source = xml_.content(unit.source), range = texts_[text].range;
    const std::string prefix(xml_.prefix(unit.source));
    std::vector<Piece> pieces(1);
    if (unit.target) {
      std::string tag(xml_.bytes_of(*unit.target));
      if (tag.ends_with("/>")) tag = tag.substr(0, tag.find_last_not_of(" \t\r\n", tag.size() - 3) + 1) + ">";
      pieces.front().text = tag;
    } else {
      const ByteRange space = space_before(unit.source);
      pieces.front().range = space;
      pieces.push_back({.text = "<" + prefix + "target" + (is_2_ ? "" : state()) + ">"});
    }
    if (unit.target && !is_2_) with_state(pieces.front().text);
    pieces.push_back({.range = {source.begin, range.begin}});
    const auto translated = pieces_of(translation, texts_[text], escape_xml);
    pieces.insert(pieces.end(), translated.begin(), translated.end());
    pieces.push_back({.range = {range.end, source.end}});
    pieces.push_back({.text = "</" + prefix + "target>"});
    const std::size_t end = xml_.element(unit.before).end;
    edits.push_back({.range = unit.target ? xml_.element(*unit.target) : ByteRange{end, end}, .pieces = pieces});
    if (is_2_ && !options_.xliff2_state.empty()) xml_.set_attribute(unit.holder, "state", options_.xliff2_state, edits);
    return "";
  }

  // Names the language of new targets.
  void edit_rest(std::vector<Edit>& edits) const override {
    if (options_.target_language.empty() || edits.empty()) return;
    const std::string_view name = is_2_ ? "trgLang" : "target-language";
    for (const std::size_t i : is_2_ ? std::vector{root_} : files_) {
      if (!xml_.attribute_place(i, name)) xml_.set_attribute(i, name, options_.target_language, edits);
    }
  }

 private:
  void add_unit(std::size_t i) {
    const auto source = xml_.child(i, "source"), parts = xml_.child(i, "seg-source"), target = xml_.child(i, "target");
    if (!source || xml_.attribute(i, "approved") == "yes") return;
    const std::string state = xml_.attribute(is_2_ || !target ? i : *target, "state");
    const ByteRange old = target ? xml_.content(*target) : ByteRange{};
    const bool is_new = bytes_.substr(old.begin, old.end - old.begin).find_first_not_of(" \t\r\n") == bytes_.npos;
    constexpr std::array<std::string_view, 6> kOpen = {
        "", "initial", "new", "needs-translation", "needs-adaptation", "needs-l10n"};
    const bool is_open = std::ranges::find(kOpen, state) != kOpen.end() || state.starts_with("needs-");
    const bool is_wanted =
        is_new || options_.entries == CatalogueEntries::all || (options_.entries == CatalogueEntries::fuzzy && is_open);
    if (!is_wanted) return;
    Unit unit{.source = parts.value_or(*source), .target = target, .before = parts.value_or(*source), .holder = i};
    auto items = xml_.items(unit.source, [this](std::size_t token) { return kind_of(token); });
    auto text = text_of(bytes_, std::move(items), unescape_xml, Spaces::trim);
    if (!text) return;
    add_placeholders(text->segment, {.percent = true, .braces = true});
    texts_.push_back(*std::move(text));
    units_.push_back(unit);
  }

  XmlTokens::Inline kind_of(std::size_t token) const {
    const std::string_view name = xml_.name(token);
    const bool is_protected =
        xml_.attribute(token, "translate") == "no" || xml_.attribute(token, "mtype") == "protected";
    if (name == "mrk" && is_protected) return XmlTokens::Inline::placeholder;
    return name == "g" || name == "pc" || name == "mrk" ? XmlTokens::Inline::pair : XmlTokens::Inline::single;
  }

  ByteRange space_before(std::size_t i) const {
    const std::size_t end = xml_[i].range.begin;
    const std::size_t last = bytes_.substr(0, end).find_last_not_of(" \t\r\n");
    return {last == bytes_.npos ? end : last + 1, end};
  }

  std::string state() const {
    return options_.xliff_state.empty() ? "" : fmt::format(" state=\"{}\"", escape_xml(options_.xliff_state));
  }

  // Sets the state in a tag.
  void with_state(std::string& tag) const {
    for (std::size_t place = tag.find("state"); place != tag.npos; place = tag.find("state", place + 1)) {
      const std::size_t equals = tag.find_first_not_of(" \t\r\n", place + 5);
      if (std::string_view(" \t\r\n").find(tag[place - 1]) == std::string_view::npos || tag[equals] != '=') continue;
      const std::size_t quote = tag.find_first_of("\"'", equals);
      tag.erase(place - 1, tag.find(tag[quote], quote + 1) + 1 - (place - 1));
      break;
    }
    tag.insert(tag.size() - 1, state());
  }

  const DocumentOptions options_;
  const XmlTokens xml_;
  bool is_2_ = false;
  std::size_t root_ = 0;
  std::vector<std::size_t> files_;
  std::vector<Unit> units_;  // one for each of texts_
};

}  // namespace

std::unique_ptr<TextFile> read_xliff(std::string_view bytes, const std::string& name, const DocumentOptions& options) {
  return std::make_unique<Xliff>(bytes, name, options);
}

}  // namespace encdec::documents

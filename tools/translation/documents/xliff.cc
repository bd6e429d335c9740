// XLIFF 1.2 and 2. A unit with a <seg-source> element is one text, and the <mrk> elements in it are pairs of codes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "encdec/translation/documents/xml.h"

namespace encdec::documents {
namespace {

// The token indices of a unit to translate.
struct Unit {
  std::size_t source = 0;  // element after which a new target is inserted
  std::optional<std::size_t> target = {};
  std::size_t segment = 0;  // trans-unit, or segment of XLIFF 2
};

class Xliff final : public TextFile {
 public:
  explicit Xliff(const InputFile& input)
      : TextFile(input, xml_syntax(Spaces::trim, {.percent = true, .braces = true, .markup = true})), xml_(input) {
    const std::size_t root = xml_.root();
    if (xml_.name(root) != "xliff") input.refuse_at(xml_[root].range.begin, "no element xliff, expected one");
    is_2_ = xml_.attribute(root, "version").starts_with('2');
    find_texts();
    for (std::size_t i = root; i < xml_.size(); ++i) {
      if (i == root ? is_2_ : !is_2_ && xml_.name(i) == "file") name_language(i);
      if (xml_.name(i) == (is_2_ ? "segment" : "trans-unit")) {
        add_unit(i);
        i = xml_[i].partner;
      }
    }
  }

  bool has_targets() const override { return true; }

  void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    const Unit& unit = units_[text];
    const ByteRange source = xml_.content(unit.source), range = texts_[text].range;
    const std::string end_tag = fmt::format("</{}target>", xml_.prefix(unit.source));
    const std::string& state = is_2_ ? input_.options.xliff2_state : input_.options.xliff_state;
    // Copy the source into the target, but replace its text by the translation.
    std::vector<Part> parts = {{.range = {source.begin, range.begin}}};
    std::ranges::move(parts_of(translation, texts_[text]), std::back_inserter(parts));
    parts.push_back({.range = {range.end, source.end}});
    Edit edit;
    if (!unit.target) {  // add an element, indented like the source
      const std::size_t begin = xml_[unit.source].range.begin, end = xml_.element(unit.source).end;
      const std::size_t space = input_.bytes.substr(0, begin).find_last_not_of(kWhiteSpace) + 1;
      const std::string attribute = is_2_ || state.empty() ? "" : xml_attribute("state", state);
      const std::string tag = fmt::format("<{}target{}>", xml_.prefix(unit.source), attribute);
      parts.insert(parts.begin(), {{.range = {space, begin}}, {.text = tag}});
      parts.push_back({.text = end_tag});
      edit.range = {end, end};
    } else if (xml_.bytes_of(*unit.target).ends_with("/>")) {  // <target/>
      const std::size_t end = xml_[*unit.target].range.end;
      parts.insert(parts.begin(), {.text = ">"});
      parts.push_back({.text = end_tag});
      edit.range = {input_.bytes.substr(0, end - 2).find_last_not_of(kWhiteSpace) + 1, end};
    } else {
      edit.range = xml_.content(*unit.target);
    }
    edit.parts = std::move(parts);
    if (!state.empty() && (is_2_ || unit.target)) {
      xml_.set_attribute(is_2_ ? unit.segment : *unit.target, "state", state, edits);
    }
    edits.push_back(std::move(edit));
  }

 private:
  // Adds the attribute for the target language, unless the file has one.
  void name_language(std::size_t i) {
    const std::string_view name = is_2_ ? "trgLang" : "target-language";
    if (input_.options.target_language.empty() || xml_.attribute_range(i, name)) return;
    xml_.set_attribute(i, name, input_.options.target_language, edits_);
  }

  // Finds the texts to translate. The innermost element or range with a translate attribute decides whether a text is
  // protected. In XLIFF 2, the empty elements <sm/> and <em/> mark the two ends of a range.
  void find_texts() {
    std::map<std::size_t, bool> open = {};       // open ranges, by start token; true if protected
    std::map<std::string, std::size_t> sm = {};  // <sm/> tokens by id
    for (std::size_t i = 0; i < xml_.size(); ++i) {
      const std::string_view name = xml_.name(xml_[i].kind == XmlToken::Kind::end ? xml_[i].partner : i);
      const bool stays = !open.empty() && open.rbegin()->second;
      if (xml_[i].kind == XmlToken::Kind::text && !stays) to_translate_.push_back(i);
      if (xml_[i].kind == XmlToken::Kind::end) {
        if (name == "unit") sm.clear(), open.erase(open.upper_bound(xml_[i].partner), open.end());
        if (name != "sm") open.erase(xml_[i].partner);
      } else if (name == "target") {  // skip a target, which repeats the ids of the source
        i = xml_[i].partner;
      } else if (name == "em") {
        const auto found = sm.find(xml_.attribute(i, "startRef"));
        if (found != sm.end()) open.erase(found->second);
      } else if (xml_.is_start(i)) {
        if (is_protected(i) || xml_.attribute(i, "translate") == "yes") open[i] = is_protected(i);
        if (name == "sm") sm[xml_.attribute(i, "id")] = i;
      }
    }
  }
  bool has_texts(std::size_t begin, std::size_t end) const {
    return std::ranges::lower_bound(to_translate_, begin) < std::ranges::lower_bound(to_translate_, end);
  }
  bool is_protected(std::size_t i) const {
    return xml_.attribute(i, "translate") == "no" || xml_.attribute(i, "mtype") == "protected";
  }

  void add_unit(std::size_t i) {
    const auto source = xml_.child(i, "source"), parts = xml_.child(i, "seg-source"), target = xml_.child(i, "target");
    if (!source || xml_.attribute(i, "approved") == "yes") return;
    const bool is_new =
        !target || xml_.content(*target).of(input_.bytes).find_first_not_of(kWhiteSpace) == input_.bytes.npos;
    const std::string state = xml_.attribute(is_2_ || !target ? i : *target, "state");
    const bool is_open = state.empty() || state == "initial" || state == "new" || state.starts_with("needs-");
    if (!is_new && input_.options.entries != CatalogueEntries::all &&
        (input_.options.entries != CatalogueEntries::fuzzy || !is_open)) {
      return;
    }
    const std::size_t before = texts_.size(), unit_source = parts.value_or(*source);
    if (!has_texts(unit_source, xml_[unit_source].partner)) return;
    add(xml_.items(unit_source, [this](std::size_t token) { return kind_of(token); }));
    if (texts_.size() > before) units_.push_back({.source = unit_source, .target = target, .segment = i});
  }

  XmlTokens::Inline kind_of(std::size_t token) const {
    const std::string_view name = xml_.name(token);
    const std::size_t end = xml_.is_start(token) ? xml_[token].partner : token + 1;
    const bool may_stay = name.empty() || (name == "mrk" && is_protected(token));
    if (may_stay && !has_texts(token, end)) return XmlTokens::Inline::placeholder;
    return name == "g" || name == "pc" || name == "mrk" ? XmlTokens::Inline::pair : XmlTokens::Inline::single;
  }

  const XmlTokens xml_;
  bool is_2_ = false;
  std::vector<std::size_t> to_translate_;  // indices of text tokens
  std::vector<Unit> units_;                // the unit of each text in texts_
};

}  // namespace

std::unique_ptr<TextFile> read_xliff(const InputFile& input) {
  return std::make_unique<Xliff>(input);
}

}  // namespace encdec::documents

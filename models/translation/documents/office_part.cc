// The parts of Office Open XML: paragraphs of runs, w:p/w:r/w:t and a:p/a:r/a:t (ECMA-376, parts 17 and 21). Words are
// broken over runs, so runs with the same format are joined. The runs of a translated paragraph are written anew:
// - The format of most of the text is the paragraph's own. Text with another format is inside a pair of codes.
// - Hyperlinks, insertions, content controls and fields are pairs of codes.
// - All else is a code: an element inside a run with text, or a whole run, or an element beside runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "encdec/models/translation/documents/xml.h"

namespace encdec::documents {
namespace {

template <std::size_t size>
bool is_one_of(std::string_view name, const std::array<std::string_view, size>& names) {
  return std::ranges::find(names, name) != names.end();
}

// Returns a format, the element rPr, without what does not change how text looks: language and spelling.
std::string visible_format(std::string_view format) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kHidden = {{{" lang=\"", "\""},
                                                                                     {" altLang=\"", "\""},
                                                                                     {" dirty=\"", "\""},
                                                                                     {" err=\"", "\""},
                                                                                     {" smtClean=\"", "\""},
                                                                                     {"<w:lang ", "/>"},
                                                                                     {"<w:noProof", "/>"}}};
  std::string visible(format);
  for (const auto& [begin, end] : kHidden) {
    const std::size_t place = visible.find(begin);
    if (place == visible.npos) continue;
    const std::size_t last = visible.find(end, place + begin.size());
    if (last != visible.npos) visible.erase(place, last + end.size() - place);
  }
  const bool is_plain =
      visible.ends_with("rPr></w:rPr>") || visible.ends_with("rPr></a:rPr>") || visible.ends_with("rPr/>");
  return is_plain ? "" : visible;
}

// Collects the items of a paragraph.
class Paragraph {
 public:
  Paragraph(const XmlTokens& xml, std::string_view bytes, std::size_t paragraph) : xml_(xml), bytes_(bytes) {
    for (std::size_t i = paragraph + 1; i < xml[paragraph].partner; ++i) {
      if (xml.is_start(i)) {
        i = read(i);
      } else if (!containers_.empty() && containers_.back() == i) {
        containers_.pop_back();
        while (open_.back().is_field) open_.pop_back();
        close(xml[i].range);
      }
    }
  }

  // Returns the items, with pairs of codes for formats. Sets `base` to the format of most of the text.
  std::vector<Item> take(std::string_view& base);
  // Returns the places of the codes that are inside runs.
  const std::set<std::size_t>& in_runs() const { return in_runs_; }

 private:
  static constexpr std::size_t kNoRun = std::string::npos;

  struct Open {
    std::size_t item;
    bool is_field;
    std::size_t others;
  };
  struct Run {
    std::string_view format;  // the element rPr
    std::string visible;
  };

  void add(Item::Kind kind, ByteRange range, std::size_t run = kNoRun) {
    items_.push_back({.kind = kind, .range = range});
    run_of_.push_back(run);
    if (kind != Item::Kind::single) ++others_;
  }
  // Ends the last open pair.
  void close(ByteRange range) {
    const std::size_t open = open_.back().item;
    open_.pop_back();
    items_[open].kind = Item::Kind::open;
    items_[open].partner = items_.size();
    add(Item::Kind::close, range);
    items_.back().partner = open;
  }
  // Reads the element at a start. Returns the last token that has been read.
  std::size_t read(std::size_t i);
  void read_run(std::size_t run);
  void read_field(ByteRange run, const std::string& type);

  const XmlTokens& xml_;
  std::string_view bytes_;
  std::vector<Item> items_;
  std::vector<std::size_t> run_of_;  // one for each item; kNoRun outside of runs with text
  std::vector<Run> runs_;
  std::vector<Open> open_;
  std::vector<std::size_t> containers_;  // the ends of open elements: tokens
  std::set<std::size_t> in_runs_;
  std::size_t others_ = 0;  // number of items that are no single codes
};

std::size_t Paragraph::read(std::size_t i) {
  constexpr std::array<std::string_view, 3> kNothing = {"pPr", "proofErr", "lastRenderedPageBreak"};
  constexpr std::array<std::string_view, 7> kContainers = {"hyperlink", "ins", "moveTo", "smartTag",
                                                           "dir",       "bdo", "sdt"};
  const std::string_view name = xml_.name(i);
  const std::size_t last = xml_[i].partner;
  const std::size_t inner = name == "sdt" ? xml_.child(i, "sdtContent").value_or(i) : i;
  if (is_one_of(name, kContainers) && xml_.content(inner).begin < xml_.content(inner).end &&
      (name != "sdt" || inner != i)) {
    open_.push_back({.item = items_.size(), .is_field = false, .others = others_});
    add(Item::Kind::single, {xml_[i].range.begin, xml_[inner].range.end});
    containers_.push_back(xml_[inner].partner);
    return inner;
  }
  if (name == "r") {
    read_run(i);
  } else if (!is_one_of(name, kNothing)) {
    add(Item::Kind::single, xml_.element(i));
    items_.back().is_break = name == "br";
  }
  return last;
}

void Paragraph::read_run(std::size_t run) {
  constexpr std::array<std::string_view, 4> kBreaks = {"br", "cr", "tab", "ptab"};
  std::vector<std::size_t> children;
  Run own;
  bool has_text = false;
  for (std::size_t i = run + 1; i < xml_[run].partner; ++i) {
    if (!xml_.is_start(i)) continue;
    const ByteRange whole = xml_.element(i);
    const std::string_view name = xml_.name(i);
    if (name == "rPr") own.format = bytes_.substr(whole.begin, whole.end - whole.begin);
    if (name != "rPr" && name != "lastRenderedPageBreak") children.push_back(i);
    has_text = has_text || name == "t";
    i = xml_[i].partner;
  }
  if (children.empty()) return;
  const ByteRange whole = xml_.element(run);
  if (!has_text) {
    const std::string_view only = children.size() == 1 ? xml_.name(children.front()) : "";
    if (is_one_of(only, kBreaks)) {
      add(Item::Kind::single, whole);
      items_.back().is_break = true;
      return;
    }
    const std::size_t mark = children.front();
    const bool is_field = children.size() == 1 && xml_.name(mark) == "fldChar";
    const std::string type = is_field ? xml_.attribute(mark, std::string(xml_.prefix(mark)) + "fldCharType") : "";
    return read_field(whole, type);
  }
  own.visible = visible_format(own.format);
  for (const std::size_t i : children) {
    const bool is_text = xml_.name(i) == "t";
    add(is_text ? Item::Kind::text : Item::Kind::single, xml_.element(i), runs_.size());
    Item& item = items_.back();
    if (is_text) item.content = xml_.content(i);
    if (!is_text) in_runs_.insert(item.range.begin);
    item.is_break = is_one_of(xml_.name(i), kBreaks);
    // A text begins and ends with whole runs.
    item.is_fixed = children.size() > 1;
    if (i == children.front()) item.range.begin = whole.begin;
    if (i == children.back()) item.range.end = whole.end;
  }
  runs_.push_back(std::move(own));
}

// Adds a run without text. The runs of a field are: begin, code, separator, text, end. The first three are one code;
// all are if there is no text.
void Paragraph::read_field(ByteRange run, const std::string& type) {
  const bool is_inside = !open_.empty() && open_.back().is_field;
  if (type == "begin") {
    open_.push_back({.item = items_.size(), .is_field = true, .others = others_});
  } else if ((type == "separate" || type == "end") && is_inside && open_.back().others == others_) {
    Item& begin = items_[open_.back().item];
    begin.range.end = begin.content.end = run.end;
    items_.resize(open_.back().item + 1);
    run_of_.resize(items_.size());
    if (type == "end") open_.pop_back();
    return;
  } else if (type == "end" && is_inside) {
    return close(run);
  }
  add(Item::Kind::single, run);
}

std::vector<Item> Paragraph::take(std::string_view& base) {
  std::map<std::string_view, std::size_t> sizes;
  std::size_t largest = 0;
  std::string_view visible_base;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].kind != Item::Kind::text) continue;
    const Run& run = runs_[run_of_[i]];
    std::size_t& size = sizes[run.visible];
    size += items_[i].content.end - items_[i].content.begin;
    if (size <= largest) continue;
    if (largest == 0 || visible_base != run.visible) base = run.format;
    largest = size;
    visible_base = run.visible;
  }
  std::vector<Item> items;
  std::vector<std::size_t> number;  // new indices of items
  std::optional<std::size_t> open;  // the pair of a format that is open, and its run
  std::size_t open_run = 0;
  const auto add_format = [&](Item::Kind kind, std::size_t place, std::string_view markup) {
    items.push_back({.kind = kind, .range = {place, place}, .markup = std::string(markup)});
  };
  for (std::size_t i = 0; i <= items_.size(); ++i) {
    const std::size_t run = i < items_.size() ? run_of_[i] : kNoRun;
    if (open && (run == kNoRun || runs_[run].visible != runs_[open_run].visible)) {
      items[*open].partner = items.size();
      add_format(Item::Kind::close, items.back().range.end, "</rPr>");
      items.back().partner = open;
      open.reset();
    }
    if (i == items_.size()) break;
    if (run != kNoRun && !open && runs_[run].visible != visible_base) {
      open = items.size();
      open_run = run;
      add_format(Item::Kind::open, items_[i].range.begin, runs_[run].format.empty() ? "<rPr/>" : runs_[run].format);
    }
    number.push_back(items.size());
    items.push_back(items_[i]);
    if (items_[i].kind == Item::Kind::close && items_[i].partner) {
      items.back().partner = number[*items_[i].partner];
      items[*items.back().partner].partner = items.size() - 1;
    }
  }
  return items;
}

class OfficePartFile final : public TextFile {
 public:
  OfficePartFile(std::string_view bytes, const std::string& name) : TextFile(bytes, xml_syntax(Spaces::keep)) {
    const XmlTokens xml(bytes, name);
    for (std::size_t i = 0, number = 0; i < xml.size(); ++i) {
      if (xml.name(i) != "p" || (xml.prefix(i) != "w:" && xml.prefix(i) != "a:")) continue;
      ++number;
      Paragraph paragraph(xml, bytes, i);
      Own own{.prefix = std::string(xml.prefix(i)), .base = {}, .in_runs = paragraph.in_runs()};
      const std::size_t before = texts_.size();
      add(paragraph.take(own.base), number);
      if (texts_.size() > before) paragraphs_.push_back(std::move(own));
    }
  }

  void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    const Own& own = paragraphs_[text];
    const Text& source = texts_[text];
    const std::string run = "<" + own.prefix + "r>", run_end = "</" + own.prefix + "r>";
    const std::string begin = "<" + own.prefix + (own.prefix == "w:" ? "t xml:space=\"preserve\">" : "t>");
    const std::string end = "</" + own.prefix + "t>";
    std::vector<std::string_view> formats = {own.base};
    std::vector<Piece> pieces(1);
    std::size_t place = 0;
    const auto write_text = [&](std::size_t until) {
      const std::string_view plain = std::string_view(translation.segment.text).substr(place, until - place);
      place = until;
      if (plain.empty()) return;
      pieces.back().text.append(run).append(formats.back()).append(begin + escape_xml(plain) + end + run_end);
    };
    for (std::size_t j = 0; j < translation.segment.codes.size(); ++j) {
      const InlineCode& code = translation.segment.codes[j];
      const ByteRange range = source.codes[translation.code_of[j]].range;
      write_text(code.place);
      if (range.begin == range.end && code.partner) {
        if (*code.partner > j)
          formats.push_back(code.markup == "<rPr/>" ? std::string_view() : std::string_view(code.markup));
        if (*code.partner < j && formats.size() > 1) formats.pop_back();
        continue;
      }
      const bool is_in_run = own.in_runs.contains(range.begin);
      if (is_in_run) pieces.back().text.append(run).append(formats.back());
      pieces.back().range = range;
      pieces.push_back({.text = is_in_run ? run_end : ""});
    }
    write_text(translation.segment.text.size());
    edits.push_back({.range = source.range, .pieces = std::move(pieces)});
  }

 private:
  // Parts of a paragraph beside its text.
  struct Own {
    std::string prefix;
    std::string_view base;          // format of the text outside of pairs
    std::set<std::size_t> in_runs;  // places of codes that are inside runs
  };

  std::vector<Own> paragraphs_;  // one for each of texts_
};

}  // namespace

std::unique_ptr<TextFile> read_office_part(std::string_view bytes, const std::string& name,
                                           const DocumentOptions& /*options*/) {
  return std::make_unique<OfficePartFile>(bytes, name);
}

}  // namespace encdec::documents

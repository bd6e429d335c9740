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
#include "encdec/models/translation/text/word_list.h"

namespace encdec::documents {
namespace {

// Returns a format, the element rPr, without what does not change how text looks: language and spelling.
std::string visible_format(std::string_view format) {
  constexpr std::string_view kHidden[] = {" lang=\"",     " altLang=\"", " dirty=\"", " err=\"",
                                          " smtClean=\"", "<w:lang ",    "<w:noProof"};
  std::string visible(format);
  for (const std::string_view begin : kHidden) {
    const std::string_view end = begin.starts_with('<') ? "/>" : "\"";
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
  Paragraph(const XmlTokens& xml, std::size_t paragraph) : xml_(xml) {
    choose_base(paragraph);
    for (std::size_t i = paragraph + 1; i < xml[paragraph].partner; ++i) {
      if (xml.is_start(i)) {
        i = read(i);
      } else if (!containers_.empty() && containers_.back().content_end == i) {
        const std::size_t begin = xml[i].range.begin;
        i = containers_.back().end;
        containers_.pop_back();
        while (open_.back().is_field) open_.pop_back();
        end_format();
        close({begin, xml[i].range.end});
      }
    }
    end_format();
  }

  std::vector<Item> take() { return std::move(items_); }
  // Returns the format of most of the text: the element rPr.
  std::string_view base() const { return base_; }
  // Returns the places of the codes that are inside runs.
  const std::set<std::size_t>& in_runs() const { return in_runs_; }

 private:
  struct Open {
    std::size_t item;
    bool is_field;
  };
  // An open element with runs: tokens.
  struct Container {
    std::size_t content_end, end;  // they differ for a content control
  };

  void choose_base(std::size_t paragraph) {
    std::map<std::string, std::size_t> sizes;
    std::size_t largest = 0;
    for (std::size_t i = paragraph + 1; i < xml_[paragraph].partner; ++i) {
      if (xml_.name(i) != "r") continue;
      const std::string_view format = format_of(i);
      const std::string visible = visible_format(format);
      std::size_t& size = sizes[visible];
      for (const std::size_t j : xml_.children(i)) {
        if (xml_.name(j) == "t") size += xml_.content(j).end - xml_.content(j).begin;
      }
      i = xml_[i].partner;
      if (size <= largest) continue;
      if (largest == 0 || visible_base_ != visible) base_ = format;
      largest = size;
      visible_base_ = visible;
    }
  }
  std::string_view format_of(std::size_t run) const {
    const auto format = xml_.child(run, "rPr");
    return format ? xml_.element(*format).of(xml_.bytes()) : std::string_view();
  }
  // Adds a code that is no part of a run with text.
  void add_single(ByteRange range, bool is_break = false) {
    end_format();
    items_.push_back({.kind = Item::Kind::single, .range = range, .is_break = is_break});
  }
  // Ends the last open pair.
  void close(ByteRange range) {
    add_close(items_, open_.back().item, range);
    open_.pop_back();
  }
  // Begins a pair of codes for the format of a run with text, unless it is the same as before.
  void begin_format(std::size_t run) {
    const std::string_view format = format_of(run);
    const std::string visible = visible_format(format);
    if (format_ && visible == visible_) return;
    end_format();
    if (visible == visible_base_) return;
    const std::size_t begin = xml_[run].range.begin;
    format_ = items_.size();
    visible_ = visible;
    items_.push_back(
        {.kind = Item::Kind::open, .range = {begin, begin}, .markup = format.empty() ? "<rPr/>" : std::string(format)});
  }
  void end_format() {
    if (!format_) return;
    const std::size_t end = items_.back().range.end;
    add_close(items_, *format_, {end, end});
    items_.back().markup = "</rPr>";
    format_.reset();
  }
  // Reads the element at a start. Returns the last token that has been read.
  std::size_t read(std::size_t i) {
    constexpr std::string_view kNothing = "pPr proofErr lastRenderedPageBreak";
    constexpr std::string_view kContainers = "hyperlink ins moveTo smartTag dir bdo sdt";
    const std::string_view name = xml_.name(i);
    const std::size_t inner = name == "sdt" ? xml_.child(i, "sdtContent").value_or(i) : i;
    const ByteRange content = xml_.content(inner);
    if (has_word(kContainers, name) && content.begin < content.end && (name != "sdt" || inner != i)) {
      end_format();
      open_.push_back({.item = items_.size(), .is_field = false});
      add_single({xml_[i].range.begin, content.begin});
      containers_.push_back({.content_end = xml_[inner].partner, .end = xml_[i].partner});
      return inner;
    }
    if (name == "r") {
      read_run(i);
    } else if (!has_word(kNothing, name)) {
      add_single(xml_.element(i), name == "br");
    }
    return xml_[i].partner;
  }
  void read_run(std::size_t run) {
    constexpr std::string_view kBreaks = "br cr tab ptab";
    constexpr std::string_view kNothing = "rPr lastRenderedPageBreak";
    std::vector<std::size_t> children = xml_.children(run);
    std::erase_if(children, [&](std::size_t i) { return has_word(kNothing, xml_.name(i)); });
    if (children.empty()) return;
    const ByteRange whole = xml_.element(run);
    if (!xml_.child(run, "t")) {
      const std::size_t mark = children.front();
      const std::string_view only = children.size() == 1 ? xml_.name(mark) : "";
      if (has_word(kBreaks, only)) return add_single(whole, true);
      return read_field(whole,
                        only == "fldChar" ? xml_.attribute(mark, fmt::format("{}fldCharType", xml_.prefix(mark))) : "");
    }
    begin_format(run);
    for (const std::size_t i : children) {
      const bool is_text = xml_.name(i) == "t";
      Item item{.kind = is_text ? Item::Kind::text : Item::Kind::single, .range = xml_.element(i)};
      if (is_text) item.content = xml_.content(i);
      if (!is_text) in_runs_.insert(item.range.begin);
      item.is_break = has_word(kBreaks, xml_.name(i));
      // A text begins and ends with whole runs.
      item.is_fixed = children.size() > 1;
      if (i == children.front()) item.range.begin = whole.begin;
      if (i == children.back()) item.range.end = whole.end;
      items_.push_back(std::move(item));
    }
  }
  // Adds a run without text. The runs of a field are: begin, code, separator, text, end. The first three are one code;
  // all are if there is no text.
  void read_field(ByteRange run, const std::string& type) {
    const bool is_inside = !open_.empty() && open_.back().is_field;
    const auto is_single = [](const Item& item) { return item.kind == Item::Kind::single; };
    if (type == "begin") {
      end_format();
      open_.push_back({.item = items_.size(), .is_field = true});
    } else if (is_inside && (type == "separate" || type == "end")) {
      const std::size_t begin = open_.back().item;
      if (std::all_of(items_.begin() + static_cast<std::ptrdiff_t>(begin), items_.end(), is_single)) {
        items_[begin].range.end = items_[begin].content.end = run.end;
        items_.resize(begin + 1);
        if (type == "end") open_.pop_back();
        return;
      }
      end_format();
      if (type == "end") return close(run);
    }
    add_single(run);
  }

  const XmlTokens& xml_;
  std::vector<Item> items_;
  std::string_view base_;
  std::string visible_base_, visible_;  // formats as they look: of most of the text, of the last run
  std::optional<std::size_t> format_;   // the item that begins the pair of a format, if one is open
  std::vector<Open> open_;
  std::vector<Container> containers_;
  std::set<std::size_t> in_runs_;
};

class OfficePartFile final : public TextFile {
 public:
  explicit OfficePartFile(const InputFile& input) : TextFile(input, xml_syntax(Spaces::keep)) {
    const XmlTokens xml(input);
    for (std::size_t i = 0, number = 0; i < xml.size(); ++i) {
      if (xml.name(i) != "p" || (xml.prefix(i) != "w:" && xml.prefix(i) != "a:")) continue;
      ++number;
      Paragraph paragraph(xml, i);
      Own own{.prefix = std::string(xml.prefix(i)), .base = paragraph.base(), .in_runs = paragraph.in_runs()};
      const std::size_t before = texts_.size();
      add(paragraph.take(), number);
      if (texts_.size() > before) paragraphs_.push_back(std::move(own));
    }
  }

  void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    const Own& own = paragraphs_[text];
    const Text& source = texts_[text];
    const std::string run = fmt::format("<{}r>", own.prefix), run_end = fmt::format("</{}r>", own.prefix);
    const std::string_view keep = own.prefix == "w:" ? " xml:space=\"preserve\"" : "";
    std::vector<std::string_view> formats = {own.base};
    std::vector<Piece> pieces(1);
    std::size_t place = 0;
    const auto write_text = [&](std::size_t until) {
      const std::string plain = translation.segment.text.substr(place, until - place);
      place = until;
      if (plain.empty()) return;
      pieces.back().text += fmt::format("{0}{1}<{2}t{3}>{4}</{2}t>{5}", run, formats.back(), own.prefix, keep,
                                        escape_xml(plain), run_end);
    };
    for (std::size_t j = 0; j < translation.segment.codes.size(); ++j) {
      const InlineCode& code = translation.segment.codes[j];
      const ByteRange range = source.codes[translation.code_of[j]].range;
      write_text(code.place);
      if (range.begin == range.end && code.partner) {  // a format
        if (*code.partner > j) formats.push_back(code.markup == "<rPr/>" ? std::string_view() : code.markup);
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

std::unique_ptr<TextFile> read_office_part(const InputFile& input) {
  return std::make_unique<OfficePartFile>(input);
}

}  // namespace encdec::documents

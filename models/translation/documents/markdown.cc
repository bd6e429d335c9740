// Markdown (CommonMark 0.31, GFM tables): headings, paragraphs, items of lists, quotes and cells of tables. A paragraph
// is one text, which its translation replaces by one line. Left as they are: front matter, blocks of code and HTML,
// definitions of links. Code spans are placeholders; emphasis, links and HTML are codes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "encdec/models/tokenizer/base/lower_case.h"
#include "encdec/models/translation/documents/text_file.h"
#include "encdec/models/translation/text/word_list.h"

namespace encdec::documents {
namespace {

constexpr std::size_t kMostInlineBytes = 2000;  // maximum size of a code span, a link target, a tag

bool is_ascii_letter(char c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

// Whether there is a character of a word, or a space or an end of the text, at `i`. The place before 0 is npos.
bool is_word(std::string_view text, std::size_t i) {
  return i < text.size() && (is_ascii_letter(text[i]) || (text[i] >= '0' && text[i] <= '9') || (text[i] & 0x80) != 0);
}

bool is_space(std::string_view text, std::size_t i) {
  return i >= text.size() || text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n';
}

// Punctuation of ASCII, which a backslash makes text.
bool is_mark(char c) {
  return c > ' ' && c < 0x7f && !is_ascii_letter(c) && (c < '0' || c > '9');
}

// Returns a text without escapes, and without the marks of quotes behind the ends of lines.
std::string unescape_markdown(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && is_mark(text[i + 1])) ++i;
    plain += text[i];
    if (text[i] == '\n') i = std::min(text.find_first_not_of(" \t>", i + 1), text.size()) - 1;
  }
  return plain;
}

bool begins_tag(std::string_view text) {
  return text.size() > 1 && text[0] == '<' && (is_ascii_letter(text[1]) || text[1] == '/' || text[1] == '!');
}

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_alone = is_space(text, i - 1) && is_space(text, i + 1);
    const bool is_in_word = is_word(text, i - 1) && is_word(text, i + 1);
    const bool is_emphasis = (c == '*' && !is_alone) || (c == '_' && !is_alone && !is_in_word);
    const bool is_special = c == '`' || c == '\\' || c == '[' || c == ']';
    if (is_special || is_emphasis || begins_tag(text.substr(i))) escaped += '\\';
    escaped += c == '\n' || c == '\r' ? ' ' : c;
  }
  return escaped;
}

std::string escape_cell(std::string_view text) {
  std::string escaped;
  for (const char c : escape_markdown(text)) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

constexpr Syntax kText{.unescape = unescape_markdown, .escape = escape_markdown, .spaces = Spaces::collapse};

// The labels of links that a file defines, as they are compared.
using Labels = std::set<std::string>;

std::string comparable_label(std::string_view label) {
  std::string comparable = lower_case(label);
  collapse_spaces(comparable);
  return comparable;
}

// Returns the size of the end of a link, "](target)" or "][label]", at the beginning of a text; 0 if there is none.
std::size_t link_end(std::string_view text) {
  if (text.starts_with("][")) return text.find(']', 2) + 1;
  std::size_t depth = 0;
  for (std::size_t i = 1; text.starts_with("](") && i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

// Finds the inline elements of a paragraph.
class InlineParser {
 public:
  InlineParser(std::string_view bytes, const Labels& labels) : bytes_(bytes), labels_(labels) {}

  std::vector<Item> items(ByteRange paragraph) {
    items_.clear();
    open_.clear();
    begin_ = paragraph.begin;
    end_ = paragraph.end;
    for (std::size_t i = begin_; i < end_;) i += std::max<std::size_t>(element_at(i), 1);
    add_text(end_);
    return std::move(items_);
  }

 private:
  void add_text(std::size_t until) {
    if (begin_ < until) items_.push_back({.kind = Item::Kind::text, .range = {begin_, until}});
    begin_ = until;
  }
  std::size_t add_item(Item::Kind kind, std::size_t begin, std::size_t size) {
    add_text(begin);
    items_.push_back({.kind = kind, .range = {begin, begin + size}});
    begin_ = begin + size;
    return size;
  }
  std::string_view rest(std::size_t i) const { return bytes_.substr(i, end_ - i); }

  // Adds the inline element at `i`. Returns its size, or that of bytes that stay text; 0 if there is nothing to know.
  std::size_t element_at(std::size_t i) {
    const std::string_view text = rest(i);
    switch (text.front()) {
      case '\\': return text.size() > 1 && is_mark(text[1]) ? 2 : line_break(i);
      case ' ': return text.starts_with("  ") ? line_break(i) : 0;
      case ':': return is_word(bytes_, i - 1) ? 0 : name(i, "abcdefghijklmnopqrstuvwxyz0123456789_+-", ':');
      case '&': return name(i, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#", ';');
      case '`': return code_span(i);
      case '<': return tag(i);
      case '!': return text.starts_with("![") ? open("[", i, 2, Item::Kind::text) : 0;
      case '[': return text.starts_with("[^") ? note(i) : open("[", i, 1, Item::Kind::text);
      case ']': return end_bracket(i);
      case '*':
      case '_':
      case '~': return emphasis(i);
      default: return 0;
    }
  }
  // The end of a line behind a backslash or two spaces, with the marks of quotes that begin the next line.
  std::size_t line_break(std::size_t i) {
    const std::string_view text = rest(i);
    const std::size_t end = text.find_first_not_of(' ', text.front() == '\\' ? 1 : 0);
    if (end == text.npos || (text[end] != '\n' && text[end] != '\r')) return std::min(end, text.size());
    add_item(Item::Kind::single, i, std::min(text.find_first_not_of(" \t>\r\n", end), text.size()));
    items_.back().is_break = true;
    return items_.back().range.end - i;
  }
  // A name and the mark at its end: ":smile:", "&nbsp;".
  std::size_t name(std::size_t i, std::string_view characters, char last) {
    const std::string_view text = rest(i);
    const std::size_t end = text.find_first_not_of(characters, 1);
    return end != text.npos && end > 1 && text[end] == last ? add_item(Item::Kind::placeholder, i, end + 1) : 0;
  }
  std::size_t code_span(std::size_t i) {
    const std::string_view text = rest(i).substr(0, kMostInlineBytes);
    const std::size_t ticks = std::min(text.find_first_not_of('`'), text.size());
    for (std::size_t place = text.find('`', ticks); place != text.npos;) {
      const std::size_t end = std::min(text.find_first_not_of('`', place), text.size());
      if (end - place == ticks) return add_item(Item::Kind::placeholder, i, end);
      place = text.find('`', end);
    }
    return 0;
  }
  std::size_t tag(std::size_t i) {
    const std::string_view text = rest(i).substr(0, kMostInlineBytes);
    const std::size_t end = text.find('>');
    if (!begins_tag(text) || end == text.npos) return 0;
    const std::string_view inside = text.substr(1, end - 1);
    const bool is_address = inside.find_first_of(":@") < inside.find_first_of(" \t\"'");
    if (is_address) return add_item(Item::Kind::placeholder, i, end + 1);
    const bool is_end = inside.starts_with('/');
    const std::string name = tag_name(text);
    if (is_end && !open_.empty() && open_.back().mark == name) return close(i, end + 1);
    if (!is_end && !inside.ends_with('/') && !inside.starts_with('!') && name != "br") {
      return open(name, i, end + 1, Item::Kind::single);
    }
    add_item(Item::Kind::single, i, end + 1);
    items_.back().is_break = name == "br";
    return end + 1;
  }
  std::size_t note(std::size_t i) {
    const std::size_t end = rest(i).substr(0, kMostInlineBytes).find(']');
    return end == std::string_view::npos ? 0 : add_item(Item::Kind::single, i, end + 1);
  }
  // The end of a link. A bracket without one is text.
  std::size_t end_bracket(std::size_t i) {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [](const Open& o) { return o.mark == "["; });
    if (found == open_.rend()) return 0;
    open_.erase(found.base(), open_.end());
    const std::size_t size = std::max<std::size_t>(link_end(rest(i).substr(0, kMostInlineBytes)), 1);
    // A link whose text is its label, "[label]" or "[label][]", gets a label of its own.
    const std::string label(ByteRange{items_[open_.back().item].range.end, i}.of(bytes_));
    const bool is_label = size == 1 || rest(i).starts_with("][]");
    if (size == 1 && !labels_.contains(comparable_label(label))) {
      open_.pop_back();
      return 0;
    }
    close(i, size);
    if (is_label) items_.back().markup = "][" + label + "]";
    return size;
  }
  std::size_t emphasis(std::size_t i) {
    const std::string_view text = rest(i);
    const std::size_t run = std::min(text.find_first_not_of(text.front()), text.size());
    if (run > 3 || (text.front() == '~' && run != 2)) return run;
    const bool is_underscore = text.front() == '_';
    const bool may_open = !is_space(text, run) && !(is_underscore && is_word(bytes_, i - 1));
    const bool may_close = !is_space(bytes_, i - 1) && !(is_underscore && is_word(text, run));
    // "***" may end two pairs.
    std::size_t closed = 0;
    while (may_close && !open_.empty() && open_.back().mark.front() == text.front() &&
           text.substr(closed, run - closed).starts_with(open_.back().mark)) {
      closed += close(i + closed, open_.back().mark.size());
    }
    if (closed > 0) return closed;
    return !may_open ? run : open(std::string(text.substr(0, run)), i, run, Item::Kind::text);
  }
  // Begins a pair, which is of another kind as long as no end is found.
  std::size_t open(std::string mark, std::size_t i, std::size_t size, Item::Kind without_end) {
    constexpr std::size_t kMostOpen = 100;
    if (open_.size() == kMostOpen) open_.clear();
    add_item(without_end, i, size);
    open_.push_back({.mark = std::move(mark), .item = items_.size() - 1});
    return size;
  }
  std::size_t close(std::size_t i, std::size_t size) {
    add_text(i);
    add_close(items_, open_.back().item, {i, i + size});
    open_.pop_back();
    begin_ = i + size;
    return size;
  }

  struct Open {
    std::string mark;  // characters of emphasis, "[", or the name of a tag
    std::size_t item;
  };

  std::string_view bytes_;
  const Labels& labels_;
  std::size_t begin_ = 0, end_ = 0;  // text that is not yet in an item; end of the paragraph
  std::vector<Item> items_;
  std::vector<Open> open_;
};

// Returns the size of the marker of a list's item and the spaces behind it; 0 if there is none.
std::size_t list_marker(std::string_view line) {
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  const std::string_view marks = digits == 0 ? "-*+" : ".)";
  if (digits >= 10 || line.substr(digits, 1).find_first_of(marks) != 0 || !is_space(line, digits + 1)) return 0;
  const std::size_t size = std::min(line.find_first_not_of(kBlanks, digits + 1), line.size());
  const std::string_view box = line.substr(size, 4);
  return box == "[ ] " || box == "[x] " || box == "[X] " ? size + box.size() : size;
}

// Whether a line begins a block of HTML: with a tag that is not inline.
bool begins_html(std::string_view line) {
  if (line.starts_with("<!") || line.starts_with("<?")) return true;
  constexpr std::string_view kInline =
      "a b i u s em strong code span img kbd sub sup br small abbr mark del ins q cite";
  const std::string name = tag_name(line);
  return begins_tag(line) && !name.empty() && is_ascii_letter(name[0]) && name.find_first_of(":@") == name.npos &&
         !has_word(kInline, name);
}

// Elements whose block of HTML goes on over empty lines, to the line with an end tag.
constexpr std::string_view kRaw = "pre script style textarea";

// Whether a line is a rule, or underlines a heading. REQUIRES: it does not begin with a space.
bool is_rule(std::string_view line) {
  const char mark = line.empty() ? ' ' : line[0];
  const std::string_view rule = trim(line, kBlanks);
  return std::string_view("=-*_").find(mark) != std::string_view::npos &&
         (std::ranges::count(line, mark) >= 3 || mark == '=' || rule == "--") &&
         std::ranges::all_of(rule, [mark](char c) { return c == mark || c == ' ' || c == '\t'; });
}

bool is_delimiter_row(std::string_view line) {
  return line.find('-') != line.npos && line.find('|') != line.npos && line.find_first_not_of("|:- \t>") == line.npos;
}

std::size_t columns_of(std::string_view spaces) {
  std::size_t columns = 0;
  for (const char c : spaces) columns += c == '\t' ? 4 - columns % 4 : 1;
  return columns;
}

// Emphasis begins and ends at words: moves its codes from spaces to words, and leaves out pairs without text.
FittedTranslation with_marks_at_words(const FittedTranslation& translation) {
  const std::string& text = translation.segment.text;
  std::vector<InlineCode> codes = translation.segment.codes;
  std::vector<bool> is_empty(codes.size());
  for (std::size_t j = 0; j < codes.size(); ++j) {
    if (!codes[j].partner || std::string_view("*_~").find(codes[j].markup.front()) == std::string_view::npos) continue;
    InlineCode& other = codes[*codes[j].partner];
    if (*codes[j].partner > j) {
      while (codes[j].place < other.place && text[codes[j].place] == ' ') ++codes[j].place;
    } else {
      while (codes[j].place > other.place && text[codes[j].place - 1] == ' ') --codes[j].place;
      is_empty[j] = is_empty[*codes[j].partner] = codes[j].place == other.place;
    }
  }
  // A line break at the end would be text.
  for (std::size_t j = codes.size(); j-- > 0 && codes[j].place == text.size();) {
    is_empty[j] = is_empty[j] || codes[j].markup.find('\n') != std::string::npos;
  }
  FittedTranslation moved = translation;
  moved.segment.codes.clear();
  moved.code_of.clear();
  for (std::size_t j = 0; j < codes.size(); ++j) {
    if (is_empty[j]) continue;
    // Without partners: only pieces of a part of a text need them.
    moved.segment.codes.push_back({.place = codes[j].place, .markup = codes[j].markup});
    moved.code_of.push_back(translation.code_of[j]);
  }
  return moved;
}

class Markdown final : public TextFile {
 public:
  explicit Markdown(const InputFile& input) : TextFile(input, kText), lines_(lines_of(input.bytes)) {
    for (const Line& line : lines_) {
      const std::size_t begin = line.text.find_first_not_of(" \t>");
      const std::size_t end = line.text.find("]:");
      if (end != line.text.npos && line.text[begin] == '[')
        labels_.insert(comparable_label(line.text.substr(begin + 1, end - begin - 1)));
    }
    for (std::size_t i = skip_front_matter(); i < lines_.size(); ++i) i = read(i);
    end_paragraph();
  }

  void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    auto pieces = pieces_of(with_marks_at_words(translation), texts_[text]);
    // Escapes a mark that would begin another block.
    std::string& first = pieces.front().text;
    if (list_marker(first) > 0) first.insert(first.find_first_not_of("0123456789"), 1, '\\');
    if (first.find_first_of("#>~=") == 0) first.insert(0, 1, '\\');
    edits.push_back({.range = texts_[text].range, .pieces = std::move(pieces)});
  }

 private:
  // Returns the index of the first line behind the front matter.
  std::size_t skip_front_matter() const {
    const std::string_view first = lines_.empty() ? std::string_view() : lines_[0].text;
    if (first != "---" && first != "+++") return 0;
    for (std::size_t i = 1; i < lines_.size(); ++i) {
      if (lines_[i].text == first || lines_[i].text == "...") return i + 1;
    }
    return 0;
  }

  void end_paragraph() {
    if (paragraph_) add(inline_.items(*paragraph_));
    paragraph_.reset();
  }
  // Returns the last line of a block whose lines stay as they are.
  template <typename IsLast>
  std::size_t skip_to(std::size_t i, const IsLast& is_last) {
    end_paragraph();
    while (i + 1 < lines_.size() && !is_last(lines_[i])) ++i;
    return i;
  }

  // Reads the block or the line of a paragraph that begins with line `i`. Returns its last line.
  std::size_t read(std::size_t i) {
    const Line& line = lines_[i];
    std::size_t begin = std::min(input_.bytes.find_first_not_of(kBlanks, line.begin), line.end), quotes = 0;
    if (begin == line.end) {
      end_paragraph();
      was_blank_ = true;
      return i;
    }
    const std::size_t indent = columns_of(ByteRange{line.begin, begin}.of(input_.bytes));
    if (was_blank_ && indent < list_indent_ && indent < 2) list_indent_ = 0;
    if (!paragraph_ && indent >= list_indent_ + 4) return i;  // code
    was_blank_ = false;
    for (; begin < line.end && input_.bytes[begin] == '>'; ++quotes) {
      begin = std::min(input_.bytes.find_first_not_of(kBlanks, begin + 1), line.end);
    }
    std::string_view text = ByteRange{begin, line.end}.of(input_.bytes);
    if (quotes != quotes_ || text.empty() || is_rule(text)) end_paragraph();
    quotes_ = quotes;
    if (text.empty() || is_rule(text)) return i;
    while (const std::size_t size = list_marker(text)) {
      end_paragraph();
      begin += size;
      list_indent_ = columns_of(ByteRange{line.begin, begin}.of(input_.bytes));
      text.remove_prefix(size);
    }
    const char mark = text.empty() ? ' ' : text[0];
    const std::size_t fence = std::min(text.find_first_not_of(mark), text.size());
    if (fence >= 3 && mark == ':') return skip_to(i, [](const Line&) { return true; });
    if (fence >= 3 && (mark == '`' || mark == '~' || mark == '$')) {
      return skip_to(std::min(i + 1, lines_.size() - 1), [&](const Line& last) {
        const std::string_view end = trim(last.text, " \t>");
        return end.size() >= fence && end.find_first_not_of(mark) == end.npos;
      });
    }
    if (text.starts_with("<!--")) {
      const std::size_t end = input_.bytes.find("-->", begin + 4);
      return skip_to(i, [&](const Line& last) { return last.end > end; });
    }
    if (text.starts_with('<') && has_word(kRaw, tag_name(text)) && !text.starts_with("</")) {
      return skip_to(i, [](const Line& last) {
        const std::string lower = lower_case(last.text);
        return any_word(kRaw,
                        [&](std::string_view name) { return lower.find(fmt::format("</{}>", name)) != lower.npos; });
      });
    }
    if (begins_html(text) && !paragraph_) {
      return skip_to(i, [](const Line& last) { return trim(last.text, kBlanks).empty(); });
    }
    if (i + 1 < lines_.size() && text.find('|') != text.npos && is_delimiter_row(lines_[i + 1].text)) {
      return read_table(i);
    }
    if (mark == '#' && is_space(text, text.find_first_not_of('#'))) {
      end_paragraph();
      const std::size_t title = std::min(text.find_first_not_of("# \t"), text.size());
      std::size_t end = text.find_last_not_of("# \t") + 1;
      if (end < text.size() && text[end] == '#') end = text.size();  // "C#"
      if (title < end) paragraph_ = {begin + title, begin + end};
      end_paragraph();
      return i;
    }
    const std::size_t label = mark == '[' ? text.find("]:") : text.npos;
    if (label != text.npos && !paragraph_) {
      if (!text.starts_with("[^")) return i;
      begin = std::min(input_.bytes.find_first_not_of(kBlanks, begin + label + 2), line.end);
    }
    paragraph_ = {paragraph_ ? paragraph_->begin : begin, line.end};
    return i;
  }

  std::size_t read_table(std::size_t i) {
    end_paragraph();
    for (std::size_t row = i; row < lines_.size(); ++row) {
      const Line& line = lines_[row];
      if (line.text.find('|') == line.text.npos) return row - 1;
      if (row == i + 1) continue;
      std::size_t begin = line.begin + std::min(line.text.find_first_not_of(" \t>|"), line.text.size());
      for (std::size_t place = begin; place <= line.end; ++place) {
        if (place < line.end && (input_.bytes[place] != '|' || input_.bytes[place - 1] == '\\')) continue;
        add(inline_.items({begin, place}));
        if (!texts_.empty() && texts_.back().range.begin >= begin) texts_.back().escape = escape_cell;
        begin = place + 1;
      }
    }
    return lines_.size() - 1;
  }

  std::vector<Line> lines_;
  Labels labels_;
  InlineParser inline_{input_.bytes, labels_};
  std::optional<ByteRange> paragraph_;  // the current one
  bool was_blank_ = true;
  std::size_t quotes_ = 0;       // depth of quotes
  std::size_t list_indent_ = 0;  // column of the text of the last item of a list; 0 outside of lists
};

}  // namespace

std::unique_ptr<TextFile> read_markdown(const InputFile& input) {
  return std::make_unique<Markdown>(input);
}

}  // namespace encdec::documents

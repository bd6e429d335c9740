// GNU gettext catalogues (manual, "PO Files"). Only msgstr fields, flags and header lines are changed.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/documents/plural_forms.h"
#include "encdec/translation/documents/text_file.h"
#include "encdec/translation/text/kept_words.h"

namespace encdec::documents {
namespace {

constexpr std::size_t kColumns = 79;  // width at which gettext wraps lines

struct Field {
  std::string value;
  ByteRange range;  // from the keyword to the last quote; empty if the field is missing
};

struct Entry {
  bool has(std::string_view flag) const { return flags.find(flag) != flags.npos; }

  std::optional<std::size_t> flags_end;   // offset after the first "#,"; unset if the entry has no flags
  std::optional<std::size_t> flags_line;  // offset at which to insert a line of flags
  std::string flags;
  PlaceholderSyntax syntax = {};
  Field id, plural;
  std::vector<Field> targets;  // msgstr, or one msgstr[i] per plural form
};

// A text to translate: the msgid of an entry, or one of the plural forms of an entry.
struct Form {
  std::size_t entry = 0;
  std::optional<std::size_t> number = {};  // index of the plural form, if the entry has plurals
  std::string source;                      // msgid or msgid_plural
  std::string mnemonic = {};               // mark and letter of the keyboard mnemonic, such as "_F"
};

// Returns the kinds of placeholders that flags such as c-format imply. Without a format flag: percent and braces.
PlaceholderSyntax syntax_of(std::string_view flags) {
  const auto has = [flags](std::string_view flag) {
    const std::size_t position = flags.find(flag);
    return position != flags.npos && !flags.substr(0, position).ends_with("no-");
  };
  PlaceholderSyntax syntax{
      .spaced = has("c-format"), .dollars = has("sh-format"), .bars = has("boost-format"), .markup = true};
  syntax.braces = has("brace-format") || has("java-format") || has("csharp-format");
  syntax.percent = syntax.spaced || (!syntax.braces && !syntax.dollars && !syntax.bars);
  if (flags.find("-format") == flags.npos) syntax.braces = true;
  return syntax;
}

std::string escape_po(std::string_view text) {
  constexpr std::string_view kEscaped = "\n\t\r\"\\", kNames = "ntr\"\\";
  std::string escaped;
  for (const char c : text) {
    const std::size_t i = kEscaped.find(c);
    if (i != kEscaped.npos) escaped += '\\';
    escaped += i != kEscaped.npos ? kNames[i] : c;
  }
  return escaped;
}

// Returns a field in the layout of gettext: a line ends after "\n", or after the last space that fits in 79 columns.
std::string written(const std::string& keyword, std::string_view value, std::string_view line_end) {
  std::vector<std::string> lines(1);
  std::size_t width = 2;
  bool ends_line = false;
  while (!value.empty()) {
    const std::size_t space = std::min(value.find_first_of(" \n"), value.size());
    const bool is_end = value.substr(space).starts_with('\n');
    const std::size_t end = is_end ? space + 1 : std::min(value.find_first_not_of(' ', space), value.size());
    const std::string word = escape_po(value.substr(0, end));
    const std::size_t more = columns(word);
    if (ends_line || (width + more > kColumns && width > 2)) {
      lines.emplace_back();
      width = 2;
    }
    lines.back() += word;
    width += more;
    ends_line = is_end;
    value.remove_prefix(end);
  }
  if (lines.size() == 1 && keyword.size() + 1 + width <= kColumns) return fmt::format("{} \"{}\"", keyword, lines[0]);
  std::string text = keyword + " \"\"";
  for (const std::string& line : lines) text += fmt::format("{}\"{}\"", line_end, line);
  return text;
}

// Appends to the field the text of the quoted strings between byte `position` of the file and the end of the line.
void read_strings(const InputFile& input, const Line& line, std::size_t position, Field& field) {
  const std::string_view bytes = input.bytes;
  const auto skip_spaces = [&] { position = std::min(bytes.find_first_not_of(" \t", position), line.end); };
  skip_spaces();
  if (position == line.end) input.refuse_at(position, "end of the line, expected a string in quotes");
  for (; position < line.end; skip_spaces()) {
    if (bytes[position] != '"') input.refuse_at(position, "no quote, expected a string in quotes");
    for (++position; position < line.end && bytes[position] != '"'; ++position) {
      if (bytes[position] != '\\') {
        field.value += bytes[position];
        continue;
      }
      if (++position == line.end) break;
      constexpr std::string_view kNames = "ntrabfv", kPlain = "\n\t\r\a\b\f\v";
      const std::size_t i = kNames.find(bytes[position]);  // npos for hexadecimal, octal and literal escapes
      unsigned code = 0;
      const bool is_hex = bytes[position] == 'x';
      const char* begin = bytes.data() + position + (is_hex ? 1 : 0);
      const auto [end, error] =
          std::from_chars(begin, std::min(begin + (is_hex ? 2 : 3), bytes.data() + line.end), code, is_hex ? 16 : 8);
      if (i != kNames.npos) {
        field.value += kPlain[i];
      } else if (error == std::errc()) {
        field.value += static_cast<char>(code);
        position = static_cast<std::size_t>(end - bytes.data()) - 1;
      } else {
        field.value += bytes[position];
      }
    }
    if (position >= line.end) input.refuse_at(line.end, "end of the line, expected a quote");
    ++position;
    field.range.end = position;
  }
}

// Returns true if programs replace the placeholder by an integer. `is_only_one`: the text has no other placeholder.
bool is_number(std::string_view placeholder, bool is_only_one) {
  const char last = placeholder.back();
  return placeholder == "%n" ||
         (placeholder.front() == '%' && std::string_view("diu>").find(last) != std::string_view::npos) ||
         (placeholder.front() == '{' && is_only_one);
}

// Returns the offset of the character that marks a keyboard mnemonic, as in "_File" and "E&xit"; npos if there is none.
std::size_t mnemonic_mark(std::string_view text) {
  constexpr std::size_t kMostBytes = 60;
  const std::size_t position = text.find_first_of("_&");
  if (text.size() > kMostBytes || position == text.npos || text.find_first_of("_&", position + 1) != text.npos)
    return text.npos;
  const auto is_letter = [&](std::size_t i) {
    return i < text.size() && (text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'z';
  };
  const auto is_upper = [&](std::size_t i) { return i < text.size() && text[i] >= 'A' && text[i] <= 'Z'; };
  const bool is_first = position == 0 || text[position - 1] == ' ';
  if (!is_letter(position + 1) || (!is_first && (!is_letter(position - 1) || is_upper(position + 1)))) return text.npos;
  const std::size_t word = text.rfind(' ', position) + 1;
  if (text[position] == '&') return text.find(';', position) == text.npos ? position : text.npos;
  return is_first || (is_upper(word) && text.find_first_of(" .(", position) - word <= 12) || text.size() - word <= 12
             ? position
             : text.npos;
}

// Inserts the mark of a mnemonic before its letter, if possible at the beginning of a word. If the letter does not
// occur, inserts the mark before the first letter. Chinese, Japanese and Korean texts end with "(_F)" instead.
std::string with_mnemonic(std::string_view text, const std::string& mnemonic, const DocumentOptions& options,
                          const PlaceholderSyntax& syntax) {
  if (mnemonic.empty()) return std::string(text);
  if (is_cjk(options.target_language)) {
    const std::size_t end = text.find_last_not_of(" .:") + 1;
    return fmt::format("{}({}{}){}", text.substr(0, end), mnemonic[0], static_cast<char>(mnemonic[1] & ~0x20),
                       text.substr(end));
  }
  std::size_t best = text.size();
  int best_rank = 0;
  const std::vector<Placeholder> placeholders = find_placeholders(text, syntax);
  auto next = placeholders.begin();
  for (const CodePoint& c : code_points(text)) {
    const std::size_t i = c.offset;
    while (next != placeholders.end() && next->end <= i) ++next;
    const bool is_in_placeholder = next != placeholders.end() && next->begin <= i;
    if (is_in_placeholder || !has_letters(text.substr(i, first_character(text.substr(i)).bytes))) continue;
    const bool is_same = (text[i] | 0x20) == (mnemonic[1] | 0x20), is_first = i == 0 || text[i - 1] == ' ';
    const int rank = is_same && is_first ? 3 : is_same ? 2 : 1;
    if (rank > best_rank) best = i;
    best_rank = std::max(rank, best_rank);
  }
  return fmt::format("{}{}{}", text.substr(0, best), best_rank > 0 ? mnemonic.substr(0, 1) : "", text.substr(best));
}

// If a translation reorders C placeholders, numbers them: for the source "%d %s", "%s %d" becomes "%2$s %1$d". Throws
// UnusableTranslation if the placeholders cannot be numbered. REQUIRES: both texts have the same placeholders.
std::string in_order(std::string_view target, std::string_view source, PlaceholderSyntax syntax) {
  syntax.markup = false;  // placeholders inside tags are arguments too
  const auto arguments = [&syntax](std::string_view text) {
    std::vector<Placeholder> found = find_placeholders(text, syntax);
    std::erase_if(found, [&](const Placeholder& p) { return text[p.begin] != '%' || part(text, p) == "%%"; });
    return found;
  };
  const std::vector<Placeholder> old = arguments(source), turned = arguments(target);
  std::vector<Replacement> numbered;
  bool is_turned = false, is_possible = syntax.spaced;
  std::map<std::string_view, std::vector<std::size_t>> left;  // unused source indices, in descending order
  for (std::size_t i = old.size(); i-- > 0;) left[part(source, old[i])].push_back(i);
  for (std::size_t i = 0; i < turned.size(); ++i) {
    const std::string own(part(target, turned[i]));
    const std::size_t number = left[own].back();
    left[own].pop_back();
    is_turned = is_turned || number != i;
    is_possible = is_possible && own.find_first_of("$*(") == own.npos;
    numbered.push_back({turned[i].begin, turned[i].end, fmt::format("%{}${}", number + 1, own.substr(1))});
  }
  const bool has_names = !old.empty() && part(source, old.front()).find_first_of("$(") != source.npos;
  if (!is_turned || has_names) return std::string(target);
  if (!is_possible) throw UnusableTranslation("the placeholders are in another order than in the source");
  return replaced(target, numbered);
}

class Catalogue final : public TextFile {
 public:
  explicit Catalogue(const InputFile& input)
      : TextFile(input, {}), line_end_(input.bytes.find("\r\n") == input.bytes.npos ? "\n" : "\r\n") {
    read();
    const auto header = std::ranges::find_if(entries_, [](const Entry& entry) { return entry.id.value.empty(); });
    if (header != entries_.end()) header_ = header->targets.front();
    fill_header();
    plurals_ = PluralForms::parse(header_.value);
    if (!plurals_) plurals_ = PluralForms::parse(PluralForms::header_of(input.options.target_language));
    for (std::size_t i = 0; i < entries_.size(); ++i) add_texts(i);
  }

  bool has_targets() const override { return true; }
  void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    const Form& form = forms_[text];
    const Entry& entry = entries_[form.entry];
    std::string value;
    for (const Part& part : parts_of(translation, texts_[text])) value += part.text;
    const std::string_view trimmed = trim(value), source = form.source;
    if (trimmed.empty()) throw UnusableTranslation("the text has only spaces");
    const std::size_t begin = source.find_first_not_of(kWhiteSpace), end = source.find_last_not_of(kWhiteSpace) + 1;
    std::string target(source.substr(0, begin));  // the white space at both ends is copied
    target.append(with_mnemonic(trimmed, form.mnemonic, input_.options, entry.syntax)).append(source.substr(end));
    if (sorted_placeholders(target, entry.syntax) != sorted_placeholders(source, entry.syntax)) {
      throw UnusableTranslation("the placeholders differ from the source");
    }
    if (entry.syntax.spaced || entry.has("python-format")) target = in_order(target, source, entry.syntax);
    const std::size_t number = form.number.value_or(0);
    const std::string keyword = form.number ? fmt::format("msgstr[{}]", number) : "msgstr";
    const std::string field = written(keyword, target, line_end_);
    if (number < entry.targets.size()) {
      edits.push_back({.range = entry.targets[number].range, .parts = {{.text = field}}});
    } else {
      const std::size_t last = entry.targets.back().range.end;
      edits.push_back({.range = {last, last}, .parts = {{.text = std::string(line_end_) + field}}});
    }
  }
  void edit_rest(std::vector<Edit>& edits) const override {
    std::set<std::size_t> positions;
    for (const Edit& edit : edits) positions.insert(edit.range.begin);
    TextFile::edit_rest(edits);
    const auto add = [&edits](std::size_t begin, std::size_t end, std::string text) {
      edits.push_back({.range = {begin, end}, .parts = {{.text = std::move(text)}}});
    };
    bool has_plurals = false;  // an edited entry has plural forms
    for (const Entry& entry : entries_) {
      const auto is_edited = [&](const Field& target) { return positions.contains(target.range.begin); };
      if (std::ranges::none_of(entry.targets, is_edited)) continue;
      has_plurals = has_plurals || entry.plural.range.end > 0;
      // Remove empty plural forms that the target language does not have.
      for (std::size_t i = plurals_->count(); entry.plural.range.end > 0 && i < entry.targets.size(); ++i) {
        if (entry.targets[i].value.empty()) add(entry.targets[i - 1].range.end, entry.targets[i].range.end, "");
      }
      if (!input_.options.mark_fuzzy || entry.has("fuzzy")) continue;
      if (entry.flags_end) {
        add(*entry.flags_end, *entry.flags_end, " fuzzy,");
      } else {
        add(*entry.flags_line, *entry.flags_line, "#, fuzzy" + std::string(line_end_));
      }
    }
    const std::string_view header = header_.range.of(input_.bytes);
    if (has_plurals && !header.empty() && header.find("Plural-Forms:") == header.npos) {
      const std::string_view forms = PluralForms::header_of(input_.options.target_language);
      add(header_.range.end, header_.range.end, fmt::format("{}\"Plural-Forms: {}\\n\"", line_end_, forms));
    }
  }

 private:
  void read() {
    Entry entry;
    Field context;
    Field* field = nullptr;
    const auto end_entry = [&] {
      entry.syntax = syntax_of(entry.flags);
      if (!entry.targets.empty()) entries_.push_back(std::move(entry));
      entry = {};
      field = nullptr;
    };
    for (const Line& line : lines_of(input_.bytes)) {
      const std::size_t position = input_.bytes.find_first_not_of(kBlanks, line.begin);
      if (position >= line.end) continue;
      const std::string_view text = input_.bytes.substr(position, line.end - position);
      if (text.starts_with('#') || text.starts_with("domain ")) {
        if (!entry.targets.empty() || text.starts_with("#~")) end_entry();  // "#~": obsolete entry
        if (text.starts_with("#|") && !entry.flags_line) entry.flags_line = line.begin;
        if (text.starts_with("#,")) {
          if (!entry.flags_end) entry.flags_end = position + 2;
          entry.flags += text.substr(2);
        }
        continue;
      }
      // A keyword begins a field. The order of the fields is msgctxt, msgid, msgid_plural, msgstr.
      const std::string_view keyword = text.substr(0, text.find_first_of(" \t\""));
      if (!keyword.empty()) {
        if (!entry.targets.empty() && (keyword == "msgctxt" || keyword == "msgid")) end_entry();
        if (!entry.flags_line) entry.flags_line = line.begin;
        const bool has_id = entry.id.range.end > 0, has_plural = entry.plural.range.end > 0;
        const std::string target = has_plural ? fmt::format("msgstr[{}]", entry.targets.size()) : "msgstr";
        field = nullptr;
        if (keyword == "msgctxt") field = &context;
        if (keyword == "msgid" && !has_id) field = &entry.id;
        if (keyword == "msgid_plural" && has_id && !has_plural) field = &entry.plural;
        const bool is_target = has_id && keyword == target && (has_plural || entry.targets.empty());
        if (is_target) field = &entry.targets.emplace_back();
        if (field == nullptr) {
          const std::string_view expected = has_id ? "msgstr" : "a comment, msgctxt or msgid";
          input_.refuse_at(position, fmt::format("'{}', expected {}", printable(keyword), expected));
        }
        *field = {.value = "", .range = {position, position}};
      }
      if (field == nullptr) input_.refuse_at(position, "a string, expected msgid before it");
      read_strings(input_, line, position + keyword.size(), *field);
    }
    if (entry.id.range.end > 0 && entry.targets.empty()) {
      input_.refuse_at(entry.id.range.begin, "no msgstr, expected one for each msgid");
    }
    end_entry();
  }
  // Fills in charset, language and plural forms in a template's header. Throws FileError for charsets other than UTF-8.
  void fill_header() {
    const std::string_view header = header_.range.of(input_.bytes);
    const auto fill = [&](std::string_view old, std::string by) {
      const std::size_t found = header.find(old);
      if (found != header.npos) add_edit({header_.range.begin + found, header_.range.begin + found + old.size()}, by);
    };
    constexpr std::string_view kCharset = "charset=";
    const std::string_view value = header_.value;
    const std::size_t position = value.find(kCharset);
    const std::string_view rest = position == value.npos ? "" : value.substr(position + kCharset.size());
    const std::string_view old = rest.substr(0, rest.find_first_of(" \t;\"\\\n"));
    const std::string charset = lower_case(old);
    const bool is_ascii = charset == "charset" || charset == "ascii" || charset == "us-ascii";
    if (!charset.empty() && charset != "utf-8" && charset != "utf8" && !is_ascii) {
      input_.refuse_at(header_.range.begin, fmt::format("charset '{}', expected UTF-8", printable(charset)));
    }
    if (is_ascii) fill(fmt::format("{}{}", kCharset, old), "charset=UTF-8");
    std::string language = input_.options.target_language;
    std::ranges::replace(language, '-', '_');
    fill("\"Language: \\n", fmt::format("\"Language: {}\\n", escape_po(language)));
    fill("nplurals=INTEGER; plural=EXPRESSION;", std::string(PluralForms::header_of(input_.options.target_language)));
  }
  // If an entry is to be translated, adds its text, or one text for each plural form.
  void add_texts(std::size_t index) {
    const Entry& entry = entries_[index];
    const bool is_new = std::ranges::all_of(entry.targets, [](const Field& target) { return target.value.empty(); });
    const bool is_wanted = input_.options.entries == CatalogueEntries::all || is_new ||
                           (input_.options.entries == CatalogueEntries::fuzzy && entry.has("fuzzy"));
    if (entry.id.value.empty() || !is_wanted) return;
    if (entry.plural.range.end == 0) return add_form({.entry = index, .source = entry.id.value}, std::nullopt);
    const bool has_same_placeholders =
        sorted_placeholders(entry.id.value, entry.syntax) == sorted_placeholders(entry.plural.value, entry.syntax);
    // Translate the form for the number 1 from msgid, if msgid has all placeholders or no other number has this form.
    // Translate all other forms from msgid_plural.
    for (std::size_t i = 0; i < plurals_->count(); ++i) {
      const auto example = plurals_->example(i);
      const bool is_one = i == plurals_->form_of_one() && plurals_->count() > 1 && (has_same_placeholders || !example);
      add_form({.entry = index, .number = i, .source = is_one ? entry.id.value : entry.plural.value},
               is_one ? 1 : example.value_or(0));
    }
  }
  void add_form(Form form, const std::optional<int>& number) {
    if (find_invalid_utf8(form.source)) return;
    input_.count(sizeof(Form) + 3 * sizeof(Segment) + 4 * form.source.size());
    std::string value(trim(form.source));
    const std::size_t mark = mnemonic_mark(value);
    if (mark != value.npos) {
      form.mnemonic = value.substr(mark, 2);
      value.erase(mark, 1);
    }
    const Entry& entry = entries_[form.entry];
    Text text{.segment = {.text = value}, .range = entry.id.range};
    add_marks(text, entry.syntax);
    Segment& segment = text.segment;
    const auto is_one = [&](const Placeholder& p) {
      return is_number(part(segment.text, p), segment.placeholders.size() == 1);
    };
    // Write an example instead of the number's placeholder: the model translates "5 files", not "%d files".
    if (number && std::ranges::count_if(segment.placeholders, is_one) == 1) {
      Placeholder& found = *std::ranges::find_if(segment.placeholders, is_one);
      found.markup = part(segment.text, found);
      const std::vector<Replacement> digits = {{found.begin, found.end, std::to_string(*number)}};
      replace_in(segment, digits);
    }
    std::vector<Replacement> nothing;  // apart from placeholders, the text must have letters
    for (const Placeholder& placeholder : segment.placeholders) nothing.push_back({placeholder.begin, placeholder.end});
    if (!has_letters(replaced(segment.text, nothing))) return;
    texts_.push_back(std::move(text));
    forms_.push_back(std::move(form));
  }

  const std::string_view line_end_;
  std::vector<Entry> entries_;  // entries with at least one target
  Field header_;
  std::optional<PluralForms> plurals_;
  std::vector<Form> forms_;  // the form of each text in texts_
};

}  // namespace

std::unique_ptr<TextFile> read_po(const InputFile& input) {
  return std::make_unique<Catalogue>(input);
}

}  // namespace encdec::documents

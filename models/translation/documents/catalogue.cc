// Catalogues of GNU gettext (manual, "PO files"). Only msgstr, flags and some lines of the header are written.
#include <algorithm>
#include <charconv>
#include <set>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/lower_case.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/translation/documents/placeholders.h"
#include "encdec/models/translation/documents/plural_forms.h"
#include "encdec/models/translation/documents/text_file.h"

namespace encdec::documents {
namespace {

constexpr std::size_t kColumns = 79;

struct Field {
  std::string value;
  ByteRange range;  // from the keyword to the last quote; empty if the field is missing
};

struct Entry {
  std::optional<std::size_t> flags_end;   // place behind "#,"
  std::optional<std::size_t> flags_line;  // place of a new line of flags
  std::string flags;
  Field id, plural;
  std::vector<Field> targets;  // msgstr, or msgstr[0] and so on
};

// A form of an entry, which is one text.
struct Form {
  std::size_t entry = 0;
  std::optional<std::size_t> number;  // number of the plural form
  std::string source;                 // msgid or msgid_plural
  std::string before, after;          // spaces around the text
  std::string mnemonic = {};          // "_F": the mark, and the letter behind it
  PlaceholderSyntax syntax = {};
  bool is_ordered = false;  // placeholders without numbers keep their order
  bool is_c = false;        // they may get numbers
};

PlaceholderSyntax syntax_of(std::string_view flags) {
  const auto has = [flags](std::string_view flag) {
    const std::size_t place = flags.find(flag);
    return place != flags.npos && !flags.substr(0, place).ends_with("no-");
  };
  PlaceholderSyntax syntax;
  syntax.spaced = has("c-format");
  syntax.braces = has("brace-format") || has("java-format") || has("csharp-format");
  syntax.dollars = has("sh-format");
  syntax.bars = has("boost-format");
  const bool others = syntax.braces || syntax.dollars || syntax.bars;
  syntax.percent = syntax.spaced || !others;
  if (flags.find("-format") == flags.npos) syntax.braces = true;
  return syntax;
}

std::string escape_po(std::string_view text) {
  return with_backslashes(text, "\n\t\r\"\\", "ntr\"\\");
}

// Splits an escaped line where gettext does: behind spaces, so that the quoted parts fit into 79 columns.
std::vector<std::string_view> wrapped(std::string_view line) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0, width = 2;
  for (std::size_t place = 0; place < line.size();) {
    const std::size_t space = line.find(' ', place);
    const std::size_t end = std::min(line.find_first_not_of(' ', std::min(space, line.size())), line.size());
    const std::size_t more = columns(line.substr(place, end - place));
    if (width + more > kColumns && place > begin) {
      parts.push_back(line.substr(begin, place - begin));
      begin = place;
      width = 2;
    }
    width += more;
    place = end;
  }
  parts.push_back(line.substr(begin));
  return parts;
}

// Returns a field as gettext writes it.
std::string written(const std::string& keyword, std::string_view value, std::string_view line_end) {
  std::vector<std::string> lines;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find('\n'), value.size() - 1) + 1;
    lines.push_back(escape_po(value.substr(0, end)));
    value.remove_prefix(end);
  }
  if (lines.empty()) return keyword + " \"\"";
  if (lines.size() == 1 && keyword.size() + 3 + columns(lines.front()) <= kColumns) {
    return keyword + " \"" + lines.front() + "\"";
  }
  std::string text = keyword + " \"\"";
  for (const std::string& line : lines) {
    for (const std::string_view part : wrapped(line)) text.append(line_end).append("\"").append(part).append("\"");
  }
  return text;
}

class Catalogue final : public TextFile {
 public:
  Catalogue(std::string_view bytes, const std::string& name, const DocumentOptions& options)
      : TextFile(bytes, {}), options_(options), line_end_(bytes.find("\r\n") == bytes.npos ? "\n" : "\r\n") {
    read(name);
    const auto header = std::ranges::find_if(entries_, [](const Entry& entry) { return entry.id.value.empty(); });
    if (header != entries_.end() && !header->targets.empty()) header_ = header->targets.front();
    check_charset(name);
    const std::string_view language_header = PluralForms::header_of(options.target_language);
    plurals_ = PluralForms::parse(header_.value);
    if (!plurals_) plurals_ = PluralForms::parse(language_header);
    for (std::size_t i = 0; i < entries_.size(); ++i) add_texts(i);
  }

  bool has_targets() const override { return true; }
  void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override;
  void edit_rest(std::vector<Edit>& edits) const override;

 private:
  void read(const std::string& name);
  void check_charset(const std::string& name) const;
  void add_texts(std::size_t entry);
  void add_form(Form form, const std::optional<int>& number);

  const DocumentOptions options_;
  const std::string_view line_end_;
  std::vector<Entry> entries_;
  Field header_;
  std::optional<PluralForms> plurals_;
  std::vector<Form> forms_;  // one for each of texts_
};

// Reads the strings of a line from `place` on, which is a byte of the file, into a field.
void read_strings(std::string_view bytes, const Line& line, std::size_t place, Field& field, const std::string& name) {
  const auto skip_spaces = [&] { place = std::min(bytes.find_first_not_of(" \t", place), line.end); };
  skip_spaces();
  if (place == line.end) refuse_at(name, bytes, place, "end of the line, expected a string in quotes");
  for (; place < line.end; skip_spaces()) {
    if (bytes[place] != '"') refuse_at(name, bytes, place, "no quote, expected a string in quotes");
    for (++place; place < line.end && bytes[place] != '"'; ++place) {
      if (bytes[place] != '\\') {
        field.value += bytes[place];
        continue;
      }
      if (++place == line.end) break;
      constexpr std::string_view kNames = "ntrabfv", kPlain = "\n\t\r\a\b\f\v";
      const std::size_t i = kNames.find(bytes[place]);
      unsigned code = 0;
      const bool is_hex = bytes[place] == 'x';
      const char* begin = bytes.data() + place + (is_hex ? 1 : 0);
      const auto [end, error] =
          std::from_chars(begin, std::min(begin + (is_hex ? 2 : 3), bytes.data() + line.end), code, is_hex ? 16 : 8);
      if (i != kNames.npos) {
        field.value += kPlain[i];
      } else if (error == std::errc()) {
        field.value += static_cast<char>(code);
        place = static_cast<std::size_t>(end - bytes.data()) - 1;
      } else {
        field.value += bytes[place];
      }
    }
    if (place >= line.end) refuse_at(name, bytes, line.end, "end of the line, expected a quote");
    ++place;
    field.range.end = place;
  }
}

void Catalogue::read(const std::string& name) {
  Entry entry;
  Field context;
  Field* field = nullptr;
  const auto end_entry = [&] {
    if (!entry.targets.empty()) entries_.push_back(std::move(entry));
    entry = {};
    field = nullptr;
  };
  for (const Line& line : lines_of(bytes_)) {
    const std::size_t place = bytes_.find_first_not_of(kBlanks, line.begin);
    if (place >= line.end) continue;
    const std::string_view text = bytes_.substr(place, line.end - place);
    if (text.starts_with('#')) {
      if (!entry.targets.empty() || text.starts_with("#~")) end_entry();
      if (text.starts_with("#|") && !entry.flags_line) entry.flags_line = line.begin;
      if (text.starts_with("#,")) {
        if (!entry.flags_end) entry.flags_end = place + 2;
        entry.flags += text.substr(2);
      }
      continue;
    }
    if (text.starts_with('"')) {
      if (field == nullptr) refuse_at(name, bytes_, place, "a string, expected msgid before it");
      read_strings(bytes_, line, place, *field, name);
      continue;
    }
    const std::string_view keyword = text.substr(0, text.find_first_of(" \t\""));
    if (!entry.targets.empty() && (keyword == "msgctxt" || keyword == "msgid")) end_entry();
    if (!entry.flags_line) entry.flags_line = line.begin;
    const bool has_id = entry.id.range.end > 0, has_plural = entry.plural.range.end > 0;
    if (keyword == "msgctxt") {
      context = {};
      field = &context;
    } else if (keyword == "msgid" && !has_id) {
      field = &entry.id;
    } else if (keyword == "msgid_plural" && has_id && !has_plural) {
      field = &entry.plural;
    } else if (has_id && (has_plural ? keyword == fmt::format("msgstr[{}]", entry.targets.size())
                                     : keyword == "msgstr" && entry.targets.empty())) {
      field = &entry.targets.emplace_back();
    } else {
      refuse_at(
          name, bytes_, place,
          fmt::format("'{}', expected {}", printable(keyword), has_id ? "msgstr" : "a comment, msgctxt or msgid"));
    }
    field->range = {place, place};
    read_strings(bytes_, line, place + keyword.size(), *field, name);
  }
  if (entry.id.range.end > 0 && entry.targets.empty()) {
    refuse_at(name, bytes_, entry.id.range.begin, "no msgstr, expected one for each msgid");
  }
  end_entry();
}

// The characters that may follow "charset=" in the header, except for UTF-8.
bool is_ascii_charset(std::string_view charset) {
  return charset.empty() || charset == "charset" || charset == "ascii" || charset == "us-ascii";
}

std::string_view charset_in(std::string_view header) {
  constexpr std::string_view kName = "charset=";
  const std::size_t place = header.find(kName);
  if (place == header.npos) return {};
  const std::string_view rest = header.substr(place + kName.size());
  return rest.substr(0, rest.find_first_of(" \t;\"\\\n"));
}

void Catalogue::check_charset(const std::string& name) const {
  const std::string charset = lower_case(charset_in(header_.value));
  if (charset == "utf-8" || charset == "utf8" || is_ascii_charset(charset)) return;
  refuse_at(name, bytes_, header_.range.begin, fmt::format("charset '{}', expected UTF-8", printable(charset)));
}

void Catalogue::add_texts(std::size_t index) {
  const Entry& entry = entries_[index];
  const bool is_new = std::ranges::all_of(entry.targets, [](const Field& target) { return target.value.empty(); });
  const bool is_fuzzy = entry.flags.find("fuzzy") != entry.flags.npos;
  const bool is_wanted =
      options_.entries == CatalogueEntries::all || is_new || (options_.entries == CatalogueEntries::fuzzy && is_fuzzy);
  if (entry.id.value.empty() || !is_wanted) return;
  Form form{.entry = index, .number = {}, .source = entry.id.value, .before = "", .after = ""};
  form.syntax = syntax_of(entry.flags);
  form.is_c = form.syntax.spaced;
  form.is_ordered = form.is_c || entry.flags.find("python-format") != entry.flags.npos;
  if (entry.plural.range.end == 0) return add_form(form, std::nullopt);
  for (std::size_t i = 0; i < plurals_->count(); ++i) {
    form.number = i;
    const auto example = plurals_->example(i);
    const auto in_singular = sorted_placeholders(entry.id.value, form.syntax);
    const bool same = in_singular == sorted_placeholders(entry.plural.value, form.syntax);
    const bool is_one = i == plurals_->form_of_one() && plurals_->count() > 1 && (same || !example);
    form.source = is_one ? entry.id.value : entry.plural.value;
    add_form(form, is_one ? 1 : example.value_or(0));
  }
}

// Returns whether a placeholder stands for a whole number.
bool is_number(std::string_view placeholder, bool is_only_one) {
  const char last = placeholder.back();
  return placeholder == "%n" ||
         (placeholder.front() == '%' && std::string_view("diu>").find(last) != std::string_view::npos) ||
         (placeholder.front() == '{' && is_only_one);
}

// Returns the place of the mark of a mnemonic, as in "_File" and "E&xit"; npos if there is none.
std::size_t mnemonic_mark(std::string_view text) {
  constexpr std::size_t kMostBytes = 60;
  const std::size_t place = text.find_first_of("_&");
  if (text.size() > kMostBytes || place == text.npos || text.find_first_of("_&", place + 1) != text.npos)
    return text.npos;
  const auto is_letter = [&](std::size_t i) {
    return i < text.size() && (text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'z';
  };
  const auto is_upper = [&](std::size_t i) { return i < text.size() && text[i] >= 'A' && text[i] <= 'Z'; };
  const bool is_first = place == 0 || text[place - 1] == ' ';
  if (!is_letter(place + 1) || (!is_first && (!is_letter(place - 1) || is_upper(place + 1)))) return text.npos;
  const std::size_t word = text.rfind(' ', place) + 1;
  if (text[place] == '&') return text.find(';', place) == text.npos ? place : text.npos;
  return is_first || (is_upper(word) && text.find_first_of(" .(", place) - word <= 12) || text.size() - word <= 12
             ? place
             : text.npos;
}

void Catalogue::add_form(Form form, const std::optional<int>& number) {
  if (find_invalid_utf8(form.source)) return;
  Segment segment{.text = form.source};
  const std::size_t begin = std::min(segment.text.find_first_not_of(kWhiteSpace), segment.text.size());
  const std::size_t end = segment.text.find_last_not_of(kWhiteSpace) + 1;
  if (end <= begin) return;
  form.before = segment.text.substr(0, begin);
  form.after = segment.text.substr(end);
  segment.text = segment.text.substr(begin, end - begin);
  const std::size_t mark = mnemonic_mark(segment.text);
  if (mark != segment.text.npos) {
    form.mnemonic = segment.text.substr(mark, 2);
    segment.text.erase(mark, 1);
  }
  segment.placeholders = find_placeholders(segment.text, form.syntax);
  const auto text_of_one = [&](const Placeholder& p) { return segment.text.substr(p.begin, p.end - p.begin); };
  const auto is_one = [&](const Placeholder& p) { return is_number(text_of_one(p), segment.placeholders.size() == 1); };
  if (number && std::ranges::count_if(segment.placeholders, is_one) == 1) {
    const auto found = std::ranges::find_if(segment.placeholders, is_one);
    const std::string digits = std::to_string(*number), markup = text_of_one(*found);
    found->markup = markup;
    segment.text.replace(found->begin, markup.size(), digits);
    for (auto later = found; later != segment.placeholders.end(); ++later) {
      if (later != found) later->begin = later->begin + digits.size() - markup.size();
      later->end = later->end + digits.size() - markup.size();
    }
  }
  std::string without_placeholders;
  std::size_t place = 0;
  for (const Placeholder& placeholder : segment.placeholders) {
    without_placeholders += segment.text.substr(place, placeholder.begin - place);
    place = placeholder.end;
  }
  if (!has_letters(without_placeholders + segment.text.substr(place))) return;
  texts_.push_back({.segment = std::move(segment), .range = entries_[form.entry].id.range});
  forms_.push_back(std::move(form));
}

// Puts the mark of a mnemonic in front of its letter, at the beginning of a word if possible. Texts of East Asia get it
// at their end: "(_F)".
std::string with_mnemonic(std::string_view text, const std::string& mnemonic, const DocumentOptions& options,
                          const PlaceholderSyntax& syntax) {
  if (mnemonic.empty()) return std::string(text);
  if (has_no_spaces(options.target_language)) {
    const std::size_t end = text.find_last_not_of(" .:") + 1;
    return fmt::format("{}({}{}){}", text.substr(0, end), mnemonic[0], static_cast<char>(mnemonic[1] & ~0x20),
                       text.substr(end));
  }
  std::size_t best = text.size();
  int best_rank = 0;
  const std::vector<Placeholder> placeholders = find_placeholders(text, syntax);
  auto next = placeholders.begin();
  for (std::size_t i = 0, bytes = 0; i < text.size(); i += bytes) {
    bytes = first_character(text.substr(i)).bytes;
    if (next != placeholders.end() && i == next->begin) {
      bytes = next->end - next->begin;
      ++next;
      continue;
    }
    if (!has_letters(text.substr(i, bytes))) continue;
    const bool is_same = (text[i] | 0x20) == (mnemonic[1] | 0x20), is_first = i == 0 || text[i - 1] == ' ';
    const int rank = is_same && is_first ? 3 : is_same ? 2 : 1;
    if (rank > best_rank) best = i;
    best_rank = std::max(rank, best_rank);
  }
  return fmt::format("{}{}{}", text.substr(0, best), best_rank > 0 ? mnemonic.substr(0, 1) : "", text.substr(best));
}

// Numbers the placeholders of C that are in another order than in the source: "%d %s" becomes "%2$d %1$s". Returns
// nullopt if that is not possible.
std::optional<std::string> in_order(std::string_view target, const Form& form) {
  const std::string_view source = form.source;
  const auto arguments = [&form](std::string_view text) {
    std::vector<Placeholder> found = find_placeholders(text, form.syntax);
    std::erase_if(found, [&](const Placeholder& p) { return text[p.begin] != '%' || text.substr(p.begin, 2) == "%%"; });
    return found;
  };
  const auto bytes = [](std::string_view text, const Placeholder& p) { return text.substr(p.begin, p.end - p.begin); };
  const std::vector<Placeholder> old = arguments(source), turned = arguments(target);
  std::string numbered;
  std::size_t place = 0;
  bool is_turned = false, is_possible = form.is_c;
  std::vector<bool> is_used(old.size());
  for (std::size_t i = 0; i < turned.size(); ++i) {
    const std::string_view own = bytes(target, turned[i]);
    std::size_t number = 0;
    while (number < old.size() && (is_used[number] || bytes(source, old[number]) != own)) ++number;
    if (number == old.size()) return std::nullopt;
    is_used[number] = true;
    is_turned = is_turned || number != i;
    is_possible = is_possible && own.find_first_of("$*(") == own.npos;
    numbered += target.substr(place, turned[i].begin - place);
    numbered += fmt::format("%{}${}", number + 1, own.substr(1));
    place = turned[i].end;
  }
  const bool has_names = !old.empty() && bytes(source, old.front()).find_first_of("$(") != source.npos;
  if (!is_turned || has_names) return std::string(target);
  if (!is_possible) return std::nullopt;
  return numbered.append(target.substr(place));
}

void Catalogue::edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const {
  const Form& form = forms_[text];
  const Entry& entry = entries_[form.entry];
  std::string target = pieces_of(translation, texts_[text]).front().text;
  const std::size_t begin = target.find_first_not_of(kWhiteSpace);
  if (begin == target.npos) throw UnusableTranslation("the text has only spaces");
  target = target.substr(begin, target.find_last_not_of(kWhiteSpace) + 1 - begin);
  target = form.before + with_mnemonic(target, form.mnemonic, options_, form.syntax) + form.after;
  if (sorted_placeholders(target, form.syntax) != sorted_placeholders(form.source, form.syntax)) {
    throw UnusableTranslation("the placeholders are not those of the source");
  }
  if (form.is_ordered) {
    const auto ordered = in_order(target, form);
    if (!ordered) throw UnusableTranslation("the placeholders are in another order than in the source");
    target = *ordered;
  }
  const std::size_t number = form.number.value_or(0);
  const std::string keyword = form.number ? fmt::format("msgstr[{}]", number) : "msgstr";
  const std::string field = written(keyword, target, line_end_);
  if (number < entry.targets.size()) {
    edits.push_back({.range = entry.targets[number].range, .pieces = {{.text = field}}});
  } else {
    const std::size_t end = entry.targets.back().range.end;
    edits.push_back({.range = {end, end}, .pieces = {{.text = std::string(line_end_) + field}}});
  }
}

void Catalogue::edit_rest(std::vector<Edit>& edits) const {
  std::set<std::size_t> places;
  for (const Edit& edit : edits) places.insert(edit.range.begin);
  const auto add = [&edits](ByteRange range, std::string text) {
    edits.push_back({.range = range, .pieces = {{.text = std::move(text)}}});
  };
  bool has_plurals = false;  // among the new translations
  for (const Entry& entry : entries_) {
    const auto is_edited = [&](const Field& target) { return places.contains(target.range.begin); };
    if (std::ranges::none_of(entry.targets, is_edited)) continue;
    has_plurals = has_plurals || entry.plural.range.end > 0;
    // Forms that the language does not have.
    for (std::size_t i = plurals_->count(); entry.plural.range.end > 0 && i < entry.targets.size(); ++i) {
      if (entry.targets[i].value.empty()) add({entry.targets[i - 1].range.end, entry.targets[i].range.end}, "");
    }
    if (!options_.mark_fuzzy || entry.flags.find("fuzzy") != entry.flags.npos) continue;
    if (entry.flags_end) {
      add({*entry.flags_end, *entry.flags_end}, " fuzzy,");
    } else {
      add({*entry.flags_line, *entry.flags_line}, "#, fuzzy" + std::string(line_end_));
    }
  }
  const std::string_view header = bytes_.substr(header_.range.begin, header_.range.end - header_.range.begin);
  const auto place_of = [&](std::string_view text) { return header_.range.begin + header.find(text); };
  constexpr std::string_view kNoLanguage = "\"Language: \\n", kNoForms = "nplurals=INTEGER; plural=EXPRESSION;";
  if (header.find(kNoLanguage) != header.npos && !options_.target_language.empty()) {
    const std::size_t place = place_of(kNoLanguage) + kNoLanguage.size() - 2;
    std::string language = options_.target_language;
    std::ranges::replace(language, '-', '_');
    add({place, place}, escape_po(language));
  }
  if (header.find(kNoForms) != header.npos) {
    const std::size_t place = place_of(kNoForms);
    add({place, place + kNoForms.size()}, std::string(PluralForms::header_of(options_.target_language)));
  }
  if (has_plurals && !header.empty() && header.find("Plural-Forms:") == header.npos) {
    const std::string_view forms = PluralForms::header_of(options_.target_language);
    add({header_.range.end, header_.range.end}, fmt::format("{}\"Plural-Forms: {}\\n\"", line_end_, forms));
  }
  const std::string_view charset = charset_in(header);
  if (is_ascii_charset(lower_case(charset)) && !charset.empty()) {
    const auto place = static_cast<std::size_t>(charset.data() - bytes_.data());
    add({place, place + charset.size()}, "UTF-8");
  }
}

}  // namespace

std::unique_ptr<TextFile> read_po(std::string_view bytes, const std::string& name, const DocumentOptions& options) {
  return std::make_unique<Catalogue>(bytes, name, options);
}

}  // namespace encdec::documents

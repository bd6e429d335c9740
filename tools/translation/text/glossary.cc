#include "encdec/translation/text/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "encdec/engine/base/error.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/text/language.h"
#include "encdec/translation/text/sentences.h"

namespace encdec {
namespace {

// Removes the first line of a text. Returns the line without its line end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

// Removes the first row of a CSV text (RFC 4180). Returns the columns of the row.
std::vector<std::string> take_row(std::string_view& text) {
  std::vector<std::string> columns(1);
  bool is_quoted = false;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"' && is_quoted && text.starts_with('"')) {
      columns.back() += c;
      text.remove_prefix(1);
    } else if (c == '"' && (is_quoted || columns.back().empty())) {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      columns.emplace_back();
    } else if (c == '\n' && !is_quoted) {
      break;
    } else if (c != '\r' || is_quoted) {
      columns.back() += c;
    }
  }
  return columns;
}

// Calls `read`, which removes a line from the text, until the text is empty. Adds file name and line number to errors.
template <class Read>
void read_lines(std::string_view bytes, const std::string& name, const Read& read) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view before = bytes.substr(0, bytes.size() - rest.size());
    try {
      read(rest);
    } catch (const InputError& error) {
      const auto line = std::ranges::count(before, '\n') + 1;
      throw InputError(fmt::format("{}: line {}: {}", name, line, error.what()));
    }
  }
}

}  // namespace

void Glossary::parse(std::string_view bytes, const std::string& name) {
  const bool is_csv = name.ends_with(".csv");
  read_lines(bytes, name, [&](std::string_view& rest) {
    std::vector<std::string> columns;
    if (is_csv) {
      columns = take_row(rest);
    } else {
      const std::string_view line = take_line(rest);
      if (line.empty() || line.starts_with("# ")) return;
      for (const auto column : std::views::split(line, '\t')) columns.emplace_back(column.begin(), column.end());
    }
    if (columns.size() == 1 && is_blank(columns.front())) return;
    if (columns.size() < 2) throw InputError("found one column, expected a term and its translation");
    add(columns[0], columns[1]);
  });
}

void Glossary::parse_kept(std::string_view bytes, const std::string& name) {
  read_lines(bytes, name, [&](std::string_view& rest) {
    const std::string_view line = take_line(rest);
    if (!is_blank(line)) add(line, line);
  });
}

void Glossary::add(std::string_view source, std::string_view target) {
  for (std::string_view* term : {&source, &target}) {
    if (find_invalid_utf8(*term)) throw InputError("a term is not UTF-8");
    *term = strip(*term);
    if (term->empty()) throw InputError("a term is empty, expected text");
    if (std::ranges::any_of(*term, [](char c) { return static_cast<unsigned char>(c) < ' '; })) {
      throw InputError(fmt::format("'{}' has a control character, expected none", printable(*term)));
    }
  }
  const auto [entry, is_new] = terms_.try_emplace(std::string(source), target);
  if (!is_new && entry->second != target) {
    throw InputError(
        fmt::format("'{}' has two translations, '{}' and '{}', expected one", source, entry->second, target));
  }
  folded_.try_emplace(without_case(source), target);
}

std::vector<Glossary::Match> Glossary::find(std::string_view text, const std::string& language) const {
  std::vector<Match> matches;
  if (terms_.empty()) return matches;
  std::vector<std::size_t> positions = word_boundaries(text, language);
  positions.insert(positions.begin(), 0);
  std::vector<std::string> words;  // words of the text, without case
  for (std::size_t i = 0; i + 1 < positions.size(); ++i) {
    words.push_back(without_case(text.substr(positions[i], positions[i + 1] - positions[i])));
  }
  for (std::size_t first = 0; first < words.size(); ++first) {
    // Find the longest run of words that begins with the word `first` and is a term.
    const std::pair<const std::string, std::string>* longest = nullptr;
    std::size_t end = first;  // index after the last word of `longest`
    std::string part;         // the words from `first` to `last`
    for (std::size_t last = first; last < words.size(); ++last) {
      part += words[last];
      const auto term = folded_.lower_bound(part);
      if (term == folded_.end() || !term->first.starts_with(part)) break;
      if (term->first != part) continue;
      longest = &*term;
      end = last + 1;
    }
    if (longest == nullptr) continue;
    const std::string_view found = text.substr(positions[first], positions[end] - positions[first]);
    Match match{.begin = positions[first], .end = positions[end], .target = longest->second};
    match.is_kept = without_case(match.target) == longest->first;
    // Prefer a term that is equal including case.
    if (const auto exact = terms_.find(found); exact != terms_.end()) {
      match.target = exact->second;
      match.is_kept = match.target == found;
    }
    matches.push_back(std::move(match));
    first = end - 1;
  }
  return matches;
}

}  // namespace encdec

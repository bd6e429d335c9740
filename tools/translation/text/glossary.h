#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Terms in one language, each with its translation. A term whose translation is the term itself is
// protected: it is not translated.
class Glossary {
 public:
  static constexpr std::size_t kMaxFileBytes = std::size_t{10} << 20;

  struct Match {
    std::size_t begin = 0, end = 0;  // byte offsets in the text
    std::string target = {};
    bool is_kept = false;  // the term is protected
  };

  // Adds the terms of a file: CSV if `name` ends in .csv, else TSV, where "# " begins a comment
  // line. Columns after the term and its translation are ignored. Throws InputError, with file name
  // and line, for a missing column, a second translation of a term, an empty term, a control
  // character, or text that is not UTF-8.
  void parse(std::string_view bytes, const std::string& name);
  // Adds protected terms, one per line. Throws as parse() does.
  void parse_kept(std::string_view bytes, const std::string& name);
  // Adds a term, protected if both texts are equal. Throws InputError as parse() does.
  void add(std::string_view source, std::string_view target);

  const std::map<std::string, std::string, std::less<>>& terms() const { return terms_; }
  // Returns the terms that occur in a text as whole words, in order, without overlaps. The longest term wins. An exact
  // match wins over a match that ignores case.
  std::vector<Match> find(std::string_view text, const std::string& language) const;

 private:
  std::map<std::string, std::string, std::less<>> terms_;  // term to translation
  std::map<std::string, std::string> folded_;              // case-folded term to translation
};

}  // namespace encdec

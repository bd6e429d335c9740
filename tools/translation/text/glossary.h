#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Terms of one language with the terms that translate them in another.
class Glossary {
 public:
  static constexpr std::size_t kMaxFileBytes = std::size_t{10} << 20;  // maximum size of a file

  // A term in a text.
  struct Match {
    std::size_t begin = 0, end = 0;  // bytes of the text
    std::string target = {};
    bool is_kept = false;  // the term is not to be translated
  };

  // Adds the terms in a file called `name`: CSV if the name ends in .csv, else TSV. A line has a term and its
  // translation; further columns are ignored. Lines of TSV that begin with "# " are comments. Throws InputError, with
  // the name and the line, for a line without two terms, a term that has another translation already, a control
  // character in a term, and text that is not UTF-8.
  void parse(std::string_view bytes, const std::string& name);
  // Adds terms that are not to be translated, one a line. Throws as parse() does.
  void parse_kept(std::string_view bytes, const std::string& name);
  // Adds a term. If both texts are equal, the term is not to be translated. Throws InputError as parse() does.
  void add(std::string_view source, std::string_view target);

  // Returns source to target.
  const std::map<std::string, std::string, std::less<>>& terms() const { return terms_; }
  // Returns the terms that a text has as whole words of its language, in order, without overlaps. The longest term
  // wins; a term with the same letters wins over one with the same letters in another case.
  std::vector<Match> find(std::string_view text, const std::string& language) const;

 private:
  std::map<std::string, std::string, std::less<>> terms_;  // source to target
  std::map<std::string, std::string> folded_;              // without case
};

}  // namespace encdec

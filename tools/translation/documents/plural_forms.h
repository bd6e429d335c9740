#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace encdec::documents {

// The forms of nouns behind numbers in a language, as the header Plural-Forms of a catalogue gives them:
// "nplurals=2; plural=(n != 1);".
class PluralForms {
 public:
  // Returns nullopt if `header` is not in this form, or has more than 10 forms.
  static std::optional<PluralForms> parse(std::string_view header);
  // Returns the header of a language, such as "pl" or "pt-BR"; of English if the language is unknown.
  static std::string_view header_of(std::string_view language);

  std::size_t count() const { return examples_.size(); }
  // Returns the least number from 2 on that has a form; nullopt if there is none up to 1000.
  std::optional<int> example(std::size_t form) const { return examples_[form]; }
  // Returns the form of 1.
  std::size_t form_of_one() const { return form_of_one_; }

 private:
  std::vector<std::optional<int>> examples_;
  std::size_t form_of_one_ = 0;
};

}  // namespace encdec::documents

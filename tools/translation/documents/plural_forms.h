#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace encdec::documents {

// A language's plural forms, from a catalogue's header: "nplurals=2; plural=(n != 1);".
class PluralForms {
 public:
  // Returns nullopt if `header` is malformed or has more than 10 forms.
  static std::optional<PluralForms> parse(std::string_view header);
  // Returns the header for a language, such as "pl" or "pt-BR"; the header for English if the language is unknown.
  static std::string_view header_of(std::string_view language);

  std::size_t count() const { return examples_.size(); }
  // Returns the smallest number from 2 to 1000 that takes a form; nullopt if there is none.
  std::optional<int> example(std::size_t form) const { return examples_[form]; }
  // Returns the form that the number 1 takes.
  std::size_t form_of_one() const { return form_of_one_; }

 private:
  std::vector<std::optional<int>> examples_;
  std::size_t form_of_one_ = 0;
};

}  // namespace encdec::documents

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/translation/text/segment.h"

namespace encdec::documents {

// The placeholders that a text may have.
struct PlaceholderSyntax {
  bool percent = false;  // %s %1$s %-5.2f %(name)s %% %@, and %1 %L1 %n of Qt
  bool spaced = false;   // percent: also with a space as in "% d"
  bool braces = false;   // {name} {0!r} {{name}} {0,number}
  bool dollars = false;  // $name ${name}
  bool bars = false;     // |1$d| of Boost
  bool markup = false;   // tags <a href="x"> and entities &amp; that a text shows
};

// Returns the text of a placeholder.
inline std::string_view part(std::string_view text, const Placeholder& placeholder) {
  return text.substr(placeholder.begin, placeholder.end - placeholder.begin);
}

// Returns the placeholders of a text, in order. Addresses of pages, http://..., are always among them.
std::vector<Placeholder> find_placeholders(std::string_view text, const PlaceholderSyntax& syntax);

// Returns the bytes of placeholders as they are in the text, sorted.
std::vector<std::string> sorted_placeholders(std::string_view text, const PlaceholderSyntax& syntax);

// Returns whether a text begins as a message of ICU: "{n, plural, one {# file} other {# files}}".
bool is_message(std::string_view text);

// Adds to a segment the placeholders of its text that are not inside others. Returns false if there is a message of ICU
// with codes or placeholders in it.
bool add_placeholders(Segment& segment, const PlaceholderSyntax& syntax);

}  // namespace encdec::documents

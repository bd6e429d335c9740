#pragma once

#include <string>

#include "argument_table.h"

namespace encdec::cli {

// What a page tells that no option does.
struct ManualFacts {
  std::string version;   // "encdec 0.1.0"
  std::string see_also;  // "encdec(1)"
};

// A page of section 1 for man(7). Of footers, a line that ends with a colon before indented lines is a heading; among
// these, "  TAG  text" is an entry of a list, and anything else is shown as it is typed.
std::string manual_page(const Command& program, const ManualFacts& facts);

}  // namespace encdec::cli

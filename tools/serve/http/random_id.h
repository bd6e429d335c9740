#pragma once

#include <string>

namespace encdec::serve {

// Returns 32 random hexadecimal digits, which cannot be guessed.
std::string random_id();

}  // namespace encdec::serve

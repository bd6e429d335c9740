#pragma once

#include <string>

namespace encdec::serve {

// 32 hexadecimal digits that nobody can guess.
std::string random_id();

}  // namespace encdec::serve

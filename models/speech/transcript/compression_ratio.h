#pragma once

#include <string_view>

namespace encdec {

// Bytes of a text over those that zlib makes of it at level 6, header and checksum included: high where the text
// repeats itself (openai/whisper utils.py). 0 of an empty one.
double compression_ratio(std::string_view text);

}  // namespace encdec

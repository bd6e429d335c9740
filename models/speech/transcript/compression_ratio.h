#pragma once

#include <string_view>

namespace encdec {

// Returns (bytes of the text) / (bytes that zlib compresses it to at level 6, header and checksum included). A text
// that repeats itself has a high ratio (openai/whisper utils.py). Returns 0 for an empty text.
double compression_ratio(std::string_view text);

}  // namespace encdec

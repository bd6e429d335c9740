#pragma once

#include <string>

namespace encdec::cli {

// Returns an SVG picture as a PNG image of the same size. Throws BackendError if the program rsvg-convert, which draws
// it, is missing or fails.
std::string png_of(const std::string& svg);

// Returns true if the program rsvg-convert runs.
bool can_write_png();

}  // namespace encdec::cli

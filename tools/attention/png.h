#pragma once

#include <string>

namespace encdec::cli {

// Returns an SVG picture as a PNG image of the same size. Throws FileError if there is no font, and BackendError if
// librsvg or cairo fails.
std::string png_of(const std::string& svg);

// Returns false in a build without librsvg (ENCDEC_PICTURES=OFF), in which png_of() throws BackendError.
bool can_write_png();

}  // namespace encdec::cli

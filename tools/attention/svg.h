#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attention/labelled_attention.h"

namespace encdec::cli {

// Returns an SVG picture of heat maps, with keys at the top and queries at the left. `title` is printed at the top; it
// can be empty and can contain any bytes.
// - Each kind of attention is one map, or a grid with a row for each layer and a column for each head.
// - Colours range from 0 to the largest weight of all maps.
// - Cells are as large as the limits on the picture's size allow. Small cells have no token labels.
// - A picture of a single map has a tooltip for each cell.
// Throws InputError if a weight is not from 0 to 1, or if a cell would be smaller than a pixel.
std::string draw_svg(std::string_view title, std::span<const LabelledAttention> attentions);

}  // namespace encdec::cli

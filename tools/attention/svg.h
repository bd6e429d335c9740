#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attention/labelled_attention.h"

namespace encdec::cli {

// Returns an SVG picture of heat maps, with keys above and queries to the left. `title` stands above them; it may have
// any bytes, and may be empty. Each kind of attention has one map, or a grid with a row for each layer and a column for
// each head. Colours go from 0 to the largest weight of all maps. Cells are as large as the limits on the picture's
// size allow. Cells that are too small for tokens have no labels. A picture of one map has a tooltip for each cell.
// Throws InputError if a weight is not from 0 to 1 or a cell would be smaller than a pixel.
std::string draw_svg(std::string_view title, std::span<const LabelledAttention> attentions);

}  // namespace encdec::cli

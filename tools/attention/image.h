#pragma once

#include <span>
#include <string>

#include "attention/labelled_attention.h"

namespace encdec::cli {

// Returns a PNG image of heat maps, with keys above and queries to the left. Each kind of attention has a title and one
// map, or a grid with a row for each layer and a column for each head. Colours go from 0 to the largest weight of all
// maps. Cells are as large as the limits on the image's size allow. Cells that are too small for tokens have no labels.
// Throws InputError if a weight is not from 0 to 1 or a cell would be smaller than a pixel, FileError if there is no
// font, and BackendError if cairo fails.
std::string draw_png(std::span<const LabelledAttention> attentions);

// Returns false in a build without Pango and cairo (ENCDEC_PICTURES=OFF), in which draw_png() throws BackendError.
bool can_draw_png();

}  // namespace encdec::cli

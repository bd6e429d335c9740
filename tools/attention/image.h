#pragma once

#include <span>
#include <string>

#include "attention/labelled_attention.h"

namespace encdec::cli {

// A PNG image of heat maps, keys above and queries to the left, under a title for each kind of attention: one large
// map, or a grid with a row for each layer and a column for each head. Colours go from 0 to the largest weight of all
// maps. Cells are as large as fits; where they are too small for tokens, there are none. Throws InputError where
// weights are not from 0 to 1 or a cell would be less than a pixel, FileError if there is no font, and BackendError
// where cairo fails.
std::string draw_png(std::span<const LabelledAttention> attentions);

// False in a build without Pango and cairo (ENCDEC_PICTURES), where draw_png() throws BackendError.
bool can_draw_png();

}  // namespace encdec::cli

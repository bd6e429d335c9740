#pragma once

#include "labelled_attention.h"
#include "terminal_style.h"
#include "text_sink.h"

namespace encdec::cli {

// Draws a heat map for each layer and head: keys above, queries to the left, and for each pair a cell of two columns.
// A map that is too wide goes on below, with the queries repeated. The last line tells what the colours mean: from 0 to
// the largest weight of all maps. Without colours, cells are characters of more and more ink.
// Throws InputError if labels and weights do not fit.
void draw_in_terminal(const LabelledAttention& attention, const TerminalStyle& style, const TextSink& write);

}  // namespace encdec::cli

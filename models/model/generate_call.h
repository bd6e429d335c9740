#pragma once

#include <cstddef>

#include "encdec/models/model/request_queue.h"

namespace encdec {

// Returns the options of a queue for one call. A source of the call takes `rows_per_source` sequences.
RequestQueueOptions queue_options(const GenerateOptions& options, std::size_t rows_per_source);

// Generates results for all inputs of a stream; see Model::generate_stream(). The caller's thread reads inputs, submits
// them to a queue of its own and writes the results in the order of the inputs.
// - Reads a window of up to 1,024 inputs ahead and submits the longest first, so that no long one runs alone at the
// end.
// - Bounds memory: reads no further window while 4,096 inputs have no written result.
void generate(const Model& model, const GenerateOptions& options, GenerateStream& stream);

}  // namespace encdec

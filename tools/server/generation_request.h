#pragma once

#include <encdec/models/checkpoint/json.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/call.h"

namespace encdec::serve {

// Functions that read the JSON of generation requests. All throw HttpError, 400, or ConfigError.

// Reads the member `key`: a text, a list of texts, a list of token ids, or a list of lists of token ids. Throws
// HttpError, 413, if there are more than ServiceLimits::inputs.
std::vector<GenerateInput> read_inputs(const Call& call, const JsonObject& request, const std::string& key,
                                       const ServedModel& model);
// Reads generation options. Most names come from transformers' GenerationConfig. The service adds src_lang, tgt_lang,
// max_source_tokens, long_sources, top_log_probs, coverage_penalty, shortlist, seed.
GenerateOptions read_options(const Call& call, const JsonObject& parameters, const ServedModel& model);

// Throws HttpError, 400, if `value` exceeds `limit`.
void check_limit(std::string_view name, std::optional<int> value, int limit);
// Throws HttpError, 400, if the number of beams, results or tokens exceeds its limit.
void check_options(const GenerateOptions& options, const ServiceLimits& limits);

}  // namespace encdec::serve

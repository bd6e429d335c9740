#pragma once

#include <encdec/models/checkpoint/json.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/call.h"

namespace encdec::serve {

// Functions that read the JSON of requests for generation. All throw HttpError, 400, or ConfigError.

// Reads the member `key`: a text, a list of texts, a list of token ids, or a list of such lists. Throws HttpError, 413,
// for more inputs than a request may have.
std::vector<GenerateInput> read_inputs(const Call& call, const JsonObject& request, const std::string& key,
                                       const ServedModel& model);
// Reads generation options. Most have the names of transformers' GenerationConfig. The others have names of this
// service: src_lang, tgt_lang, max_source_tokens, long_sources, top_log_probs, coverage_penalty, shortlist, seed.
GenerateOptions read_options(const Call& call, const JsonObject& parameters, const ServedModel& model);

// Throws HttpError, 400, if a value exceeds a limit.
void check_limit(std::string_view name, std::optional<int> value, int limit);
// Throws HttpError, 400, if an option exceeds a limit.
void check_options(const GenerateOptions& options, const ServiceLimits& limits);

}  // namespace encdec::serve

#pragma once

#include <encdec/models/checkpoint/json.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/call.h"

namespace encdec::serve {

// Functions that read the JSON of requests for generation and embeddings. All throw HttpError, 400, or ConfigError.

// Reads the member `key`: a text, a list of texts, a list of token ids, or a list of such lists. Throws HttpError, 413,
// for more inputs than a request may have.
std::vector<GenerateInput> read_inputs(const Call& call, const JsonObject& request, const std::string& key,
                                       const ServedModel& model);
// Reads the same as texts: token ids are decoded.
std::vector<std::string> read_texts(const Call& call, const JsonObject& request, const std::string& key,
                                    const ServedModel& model);

// Reads generation options. Most have the names of transformers' GenerationConfig. The others have names of this
// service: src_lang, tgt_lang, max_source_tokens, long_sources, top_log_probs, coverage_penalty, shortlist, seed.
GenerateOptions read_options(const JsonObject& parameters, const ServedModel& model, const ServiceLimits& limits);

// Throws HttpError, 400, if a value exceeds a limit.
void check_limit(std::string_view name, std::optional<int> value, int limit);
// Throws HttpError, 400, if an option exceeds a limit.
void check_options(const GenerateOptions& options, const ServiceLimits& limits);

// Reads "truncate" and "truncation_direction", as text-embeddings-inference names them.
LongSources read_long_texts(const JsonObject& request);

// Reads embedding options by the names of text-embeddings-inference. `is_normal` is the default of "normalize".
EmbedOptions read_embed_options(const JsonObject& request, bool is_normal);

// Returns the vector of a text as [0.1, ...], a sparse one as [{"index", "value"}, ...], and vectors of tokens as
// [[0.1, ...], ...].
nlohmann::ordered_json vector_json(const VectorResult& result);

}  // namespace encdec::serve

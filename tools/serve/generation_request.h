#pragma once

#include <encdec/models/checkpoint/json.h>
#include <encdec/models/checkpoint/written_json_fwd.h>

#include <string>
#include <vector>

#include "serve/call.h"

namespace encdec::serve {

// What protocols say in JSON of generation. All throw HttpError, 400, or ConfigError.

// A text, or a list of texts; token ids where `inputs` may be those: of one, or a list of lists.
// No more than a request may have.
std::vector<GenerateInput> read_inputs(const Call& call, const JsonObject& request, const std::string& key,
                                       const ServedModel& model);
// The same of texts; token ids become the text that they stand for.
std::vector<std::string> read_texts(const Call& call, const JsonObject& request, const std::string& key,
                                    const ServedModel& model);

// Settings by GenerationConfig's names, within the limits of this service, and the rest of GenerateOptions by its own:
// src_lang, tgt_lang, max_source_tokens, long_sources, top_log_probs.
GenerateOptions read_options(const JsonObject& parameters, const ServedModel& model, const ServiceLimits& limits);

// Throws HttpError for what is beyond them.
void check_options(const GenerateOptions& options, const ServiceLimits& limits);

// EmbedOptions by text-embeddings-inference's names; `is_normal` is what a missing "normalize" means.
EmbedOptions read_embed_options(const JsonObject& request, bool is_normal);

// Whether it is a token of the model's, no part of a text: an end, a beginning, padding.
bool is_special(const Model& model, std::int32_t id);

// [[0.1, ...]]: what protocols of embeddings answer.
WrittenJson vectors_json(const std::vector<EmbedResult>& results);

}  // namespace encdec::serve

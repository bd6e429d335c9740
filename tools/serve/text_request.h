#pragma once

#include <encdec/models/checkpoint/json.h>

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/call.h"

namespace encdec::serve {

// Functions for requests that several protocols have: scores of texts and similarities. All throw HttpError, 400, or
// ConfigError.

// Reads "truncate" and "truncation_direction", as text-embeddings-inference names them.
LongSources read_long_texts(const JsonObject& request);
// Reads a text or a pair of texts in one of the forms "a", ["a"], ["a", "b"] and {"text": "a", "text_pair": "b"}.
// `where` names it in messages.
TextPair read_pair(const nlohmann::json& value, std::string_view where);

// Returns [{"label", "score"}, ...], the best first, at most `top_k` of them unless that is 0.
nlohmann::ordered_json labels_json(std::span<const std::string> labels, std::span<const float> scores, int top_k = 0);

// Answers {"source_sentence", "sentences"} with the cosines of their embeddings: [0.7, ...].
asio::awaitable<void> answer_similarity(Call& call, const JsonObject& inputs, const std::string& model);

}  // namespace encdec::serve

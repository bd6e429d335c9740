// OpenAI's protocol for embeddings: /v1/embeddings (platform.openai.com/docs/api-reference/embeddings).
#include <encdec/engine/base/base64.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <nlohmann/json.hpp>

#include "common/json_arrays.h"
#include "encoders/server/encoders_server.h"

namespace encdec::serve {
namespace openai_embeddings {

using Json = nlohmann::ordered_json;

asio::awaitable<void> embeddings(Call& call) {
  static_assert(std::endian::native == std::endian::little);  // base64 encodes little-endian floats
  const JsonObject request = call.json();
  ServedModel& model = embedder_of(call, request.string("model").value_or(""));
  std::vector<std::string> texts = read_texts(call, request, "input", model);
  if (texts.empty()) throw HttpError(400, "'input' is missing or empty, expected a text or a list of texts");
  const std::string format = request.string("encoding_format").value_or("float");
  if (format != "float" && format != "base64") {
    throw HttpError(400, fmt::format("'encoding_format' is '{}', expected float or base64", format));
  }
  EmbedOptions options;
  options.dimensions = static_cast<int>(request.integer("dimensions", {.min = 1, .max = 1 << 20}).value_or(0));
  const auto results = co_await embed_texts(call, model, std::move(texts), options);
  Json data = Json::array();
  std::size_t tokens = 0;
  for (const VectorResult& result : results) {
    Json embedding = format == "base64" ? Json(encode_base64(std::as_bytes(std::span(result.values))))
                                        : cli::to_array(result.values);
    data.push_back({{"object", "embedding"}, {"index", data.size()}, {"embedding", std::move(embedding)}});
    tokens += result.source_tokens;
  }
  call.respond({{"object", "list"},
                {"data", std::move(data)},
                {"model", model.name()},
                {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
}

constexpr std::array kRoutes = {Route{"POST", "/v1/embeddings", &embeddings, &openai_error}};

}  // namespace openai_embeddings

std::span<const Route> embeddings_routes() {
  return openai_embeddings::kRoutes;
}

}  // namespace encdec::serve

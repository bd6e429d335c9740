#include "serve/text_request.h"

#include <encdec/models/tokenizer/base/lower_case.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/json_arrays.h"
#include "serve/http/message.h"

namespace encdec::serve {

using Json = nlohmann::ordered_json;

LongSources read_long_texts(const JsonObject& request) {
  LongSources result = LongSources::truncate;
  if (const auto word = request.string("truncation_direction")) {
    const auto side = value_named<TruncationSide>(kTruncationSides, lower_case(*word));
    if (!side) throw HttpError(400, fmt::format("'truncation_direction' is '{}', expected left or right", *word));
    result = *side == TruncationSide::left ? LongSources::truncate_left : LongSources::truncate_right;
  }
  return request.boolean("truncate").value_or(true) ? result : LongSources::error;
}

TextPair read_pair(const nlohmann::json& value, std::string_view where) {
  const auto is_text = [](const nlohmann::json& item) { return item.is_string(); };
  if (is_text(value)) return {value.get<std::string>()};
  if (value.is_array() && (value.size() == 1 || value.size() == 2) && std::ranges::all_of(value, is_text)) {
    TextPair pair{value[0].get<std::string>()};
    if (value.size() == 2) pair.second = value[1].get<std::string>();
    return pair;
  }
  if (value.is_object()) {
    const JsonObject object(value, std::string(where));
    return {object.required_string("text"), object.string("text_pair")};
  }
  throw HttpError(400, fmt::format("'{}' is {}, expected a text or a pair of texts", where,
                                   value.is_array() ? fmt::format("a list of {}", value.size()) : value.type_name()));
}

Json labels_json(std::span<const std::string> labels, std::span<const float> scores, int top_k) {
  Json list = Json::array();
  for (const auto& [index, score] : ranked(scores, top_k)) {
    list.push_back({{"label", labels[index]}, {"score", cli::short_number(score)}});
  }
  return list;
}

asio::awaitable<void> answer_similarity(Call& call, const JsonObject& inputs, const std::string& model) {
  ServedModel& embedder = call.parts().models.embedder(model);
  std::vector<std::string> texts = inputs.strings("sentences");
  if (texts.empty()) throw HttpError(400, "`inputs.sentences` cannot be empty");
  texts.insert(texts.begin(), inputs.required_string("source_sentence"));
  const EmbedOptions options{.normalize = true};
  const auto results = co_await call.embed(embedder, std::move(texts), options);
  std::vector<float> cosines;
  for (std::size_t i = 1; i < results.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < results[i].values.size(); ++k) sum += results[0].values[k] * results[i].values[k];
    cosines.push_back(static_cast<float>(sum));
  }
  call.respond(cli::to_array(cosines));
}

}  // namespace encdec::serve

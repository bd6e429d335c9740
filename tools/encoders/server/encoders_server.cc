#include "encoders/server/encoders_server.h"

#include <encdec/models/tokenizer/base/utf8.h>
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "common/json_arrays.h"
#include "server/generation_request.h"
#include "slice.h"

namespace encdec::serve {

// The functions below are defined in openai_embeddings.cc, tei.cc and rerank.cc.
std::span<const Route> embeddings_routes();
std::span<const Route> tei_routes();
std::span<const Route> rerank_routes();

namespace {

using Json = nlohmann::ordered_json;

// Return whether a model embeds or classifies texts. No model does both.

bool embeds(const EncodersServer::Faces& model) {
  return !model.embedder.model().config().has_decoder() && model.classifier.labels() == nullptr;
}

bool embeds(const EncodersServer::Faces& model, EmbedOutput output) {
  return embeds(model) && model.embedder.gives(output);
}

bool classifies(const EncodersServer::Faces& model) {
  return model.classifier.model().config().head.classifies_texts();
}

// Returns whether the model is a text classifier with one label, whose score ranks texts.
bool ranks(const EncodersServer::Faces& model) {
  return classifies(model) && model.classifier.labels()->names().size() == 1;
}

// Submits the texts to the model's queue and waits for all results. `face` is the model's Embedder or Classifier.
template <class Face, class Text, class Options>
asio::awaitable<std::vector<VectorResult>> read(Call& call, ServedModel& model, const Face& face,
                                                std::vector<Text> texts, Options options,
                                                std::function<void(std::size_t, VectorResult&)> on_result) {
  call.check_inputs(texts.size());
  Work<VectorResult> work(call.executor());
  const auto states = std::make_shared<SourceStates>(texts.size());
  Handlers<VectorResult> handlers = work.handlers<VectorResult>(model.metrics(), states);
  work.add(face.submit(model.queue(), texts, options, std::move(handlers), call.client()));
  co_return co_await call.results_of<VectorResult>(work, texts.size(), on_result);
}

// Returns {"id2label": {...}, "label2id": {...}}, as in config.json.
Json label_names(const ClassifierLabels& classifier) {
  Json names, numbers;
  for (const std::string& label : classifier.names()) {
    names[std::to_string(names.size())] = label;
    numbers[label] = numbers.size();
  }
  return {{"id2label", std::move(names)}, {"label2id", std::move(numbers)}};
}

class EncodersSlice final : public EncodersServer {
 public:
  std::vector<Route> routes() const override { return joined({embeddings_routes(), tei_routes(), rerank_routes()}); }

  void add(const ServedModel& model, Metrics& /*metrics*/) override {
    models.push_back({Embedder(model.model()), Classifier(model.model())});
  }

  std::string task(const ServedModel& model) const override {
    if (embeds(of(model), EmbedOutput::dense)) return "embeds texts";
    if (embeds(of(model))) return "gives sparse vectors";
    if (classifies(of(model))) return "classifies texts";
    return model.model().config().head.kind == HeadKind::tokens ? "classifies tokens" : "";
  }

  void set_type(const ServedModel& model, Json& type) const override {
    if (const auto& labels = of(model).classifier.labels()) {
      type = {{ranks(of(model)) ? "reranker" : "classifier", label_names(*labels)}};
    } else if (embeds(of(model))) {
      type = {{"embedding", {{"pooling", embeds(of(model), EmbedOutput::dense) ? Json() : Json("splade")}}}};
    }
  }
};

// Returns the model called `name`. If the name is empty, returns the first model for which `fits` is true.
ServedModel& find(const Call& call, const std::string& name, const auto& fits, const std::string& what,
                  int status = 404) {
  const auto& encoders = call.slice<EncodersServer>();
  return call.parts().models.find(
      name, [&](const ServedModel& model) { return fits(encoders.of(model)); }, what, status);
}

}  // namespace

std::unique_ptr<ServerSlice> encoders_server_slice() {
  return std::make_unique<EncodersSlice>();
}

ServedModel& embedder_of(const Call& call, const std::string& name, EmbedOutput output, int status) {
  const auto fits = [output](const EncodersServer::Faces& model) { return embeds(model, output); };
  const bool is_dense = output == EmbedOutput::dense;
  return find(call, name, fits,
              is_dense ? "embeds texts" : fmt::format("gives {} vectors", name_of(kEmbedOutputNames, output)), status);
}

ServedModel& classifier_of(const Call& call, const std::string& name) {
  return find(call, name, classifies, "classifies texts");
}

ServedModel& ranker_of(const Call& call, const std::string& name) {
  return find(call, name, ranks, "ranks documents");
}

asio::awaitable<std::vector<VectorResult>> embed_texts(Call& call, ServedModel& model, std::vector<std::string> texts,
                                                       EmbedOptions options) {
  constexpr std::size_t kNumber = 5;  // least bytes of a number in a response, in base64
  const std::function<void(std::size_t, VectorResult&)> count_numbers = [&call](std::size_t, VectorResult& result) {
    call.count(result.values.size() * kNumber);
  };
  const Embedder& embedder = call.slice<EncodersServer>().of(model).embedder;
  auto results = co_await read(call, model, embedder, std::move(texts), options, count_numbers);
  if (!results.empty() && static_cast<std::size_t>(options.dimensions) > results.front().values.size()) {
    throw HttpError(
        400, fmt::format("'dimensions' is {}, expected at most {}", options.dimensions, results.front().values.size()));
  }
  co_return results;
}

asio::awaitable<std::vector<VectorResult>> classify_texts(Call& call, ServedModel& model, std::vector<TextPair> texts,
                                                          ClassifyOptions options) {
  const std::function<void(std::size_t, VectorResult&)> nothing;
  const Classifier& classifier = call.slice<EncodersServer>().of(model).classifier;
  co_return co_await read(call, model, classifier, std::move(texts), options, nothing);
}

std::vector<std::string> read_texts(const Call& call, const JsonObject& request, const std::string& key,
                                    const ServedModel& model) {
  std::vector<std::string> texts;
  for (const GenerateInput& input : read_inputs(call, request, key, model)) {
    const auto* text = std::get_if<std::string>(&input.source);
    if (model.model().tokenizer() == nullptr) {
      throw HttpError(400, fmt::format("model '{}' has no tokenizer, expected one to encode texts", model.name()));
    }
    texts.push_back(text != nullptr ? *text : model.model().tokenizer()->decode(std::get<TokenIds>(input.source)));
  }
  return texts;
}

LongSources read_long_texts(const JsonObject& request) {
  LongSources result = LongSources::truncate;
  if (const auto word = request.string("truncation_direction")) {
    const auto side = value_named<TruncationSide>(kTruncationSides, lower_case(*word));
    if (!side) throw HttpError(400, fmt::format("'truncation_direction' is '{}', expected left or right", *word));
    result = *side == TruncationSide::left ? LongSources::truncate_left : LongSources::truncate_right;
  }
  return request.boolean("truncate").value_or(true) ? result : LongSources::error;
}

EmbedOptions read_embed_options(const JsonObject& request, bool is_normal) {
  EmbedOptions options;
  options.normalize = request.boolean("normalize").value_or(is_normal);
  options.prompt_name = request.string("prompt_name");
  options.dimensions = static_cast<int>(request.integer("dimensions", {.min = 1, .max = 1 << 20}).value_or(0));
  options.long_texts = read_long_texts(request);
  return options;
}

nlohmann::ordered_json vector_json(const VectorResult& result) {
  if (result.output == EmbedOutput::dense) return cli::to_array(result.values);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  if (result.output == EmbedOutput::sparse) {
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      list.push_back({{"index", result.token_ids[i]}, {"value", cli::short_number(result.values[i])}});
    }
    return list;
  }
  const std::span<const float> values = result.values;
  for (std::size_t row = 0; row < result.rows; ++row) {
    list.push_back(cli::to_array(values.subspan(row * result.width, result.width)));
  }
  return list;
}

}  // namespace encdec::serve

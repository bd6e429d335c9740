#include "encdec/encoders/embedder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "encdec/encoders/text_request.h"
#include "encdec/engine/base/refuse.h"

namespace encdec {
namespace {

// Returns the special tokens around a text, the unknown token and the pad token.
TokenIds special_tokens(const ModelParts& parts) {
  TokenIds tokens = parts.tokenizer->encode("");
  for (const auto& token : {parts.tokenizer->unknown_token(), parts.network.config.pad_token}) {
    if (token) tokens.push_back(*token);
  }
  return tokens;
}

// A request for the vectors of texts.
class EmbedRequest final : public VectorRequest {
 public:
  // Throws the exceptions of TextRequest. Throws ConfigError if an option is out of range or does not apply to
  // options.output, if the prompt name is unknown, or if the model does not support this kind of vectors.
  EmbedRequest(const Embedder& embedder, EmbedOptions options, Handlers<VectorResult> handlers)
      : VectorRequest(embedder.model(), settings_of(embedder.model(), options), std::move(handlers)),
        modules_(embedder.model().modules()),
        model_dim_(embedder.model().config().model_dim()),
        rows_left_out_(modules_.rows_left_out(parts().tokenizer, prompt())),
        options_(std::move(options)) {
    check_range("dimensions", options_.dimensions, 0, std::numeric_limits<int>::max());
    if (options_.output != EmbedOutput::dense && (options_.dimensions != 0 || options_.normalize)) {
      throw ConfigError(fmt::format("dimensions and normalize do not apply to {} vectors, expected neither",
                                    name_of(kEmbedOutputNames, options_.output)));
    }
    if (options_.output == EmbedOutput::sparse && modules_.reads_lexical()) left_out_ = special_tokens(parts());
  }

  std::vector<DecodeJob> jobs(std::span<const std::string> texts) const {
    std::vector<DecodeJob> jobs;
    for (const std::string& text : texts) {
      jobs.push_back(
          job(jobs.size(), [&]() -> Encoding { return {tokenizer().encode(prompt() + text, encode_options())}; }));
    }
    return jobs;
  }

  Dim width() const override {
    if (options_.output == EmbedOutput::sparse) return 0;
    if (options_.output == EmbedOutput::tokens) return model_dim_;
    if (options_.output == EmbedOutput::colbert) return modules_.colbert_width();
    const Dim width = modules_.width();
    return options_.dimensions > 0 ? std::min<Dim>(width, options_.dimensions) : width;
  }

 private:
  static Settings settings_of(const Model& model, const EmbedOptions& options) {
    const SentenceEmbedder& modules = model.modules();
    modules.expect(options.output, model.config());
    const bool is_weights = options.output == EmbedOutput::sparse && !modules.reads_lexical();
    return {.compute = options.output == EmbedOutput::dense ? read_pooled_rows(model)
                       : is_weights                         ? read_weights
                                                            : read_rows,
            .prompt = modules.prompt(options.prompt, options.prompt_name),
            .long_texts = options.long_texts,
            .batch_size = options.batch_size};
  }

  VectorResult vector_of(const TokenIds& ids, const Tensor& rows) const override {
    VectorResult result{.output = options_.output};
    switch (options_.output) {
      case EmbedOutput::dense:
        result.values = modules_.embed(rows, rows_left_out_, options_.dimensions, options_.normalize);
        return result;
      case EmbedOutput::sparse: add_weights(ids, rows, result); return result;
      case EmbedOutput::tokens: result.values.assign(rows.data<float>(), rows.data<float>() + rows.elements()); break;
      case EmbedOutput::colbert: result.values = modules_.colbert(rows); break;
    }
    result.width = static_cast<std::size_t>(width());
    result.rows = result.values.size() / result.width;
    return result;
  }

  // Adds the weights that are not 0, with their tokens. `rows` holds the weights of all tokens [1, V] or, for BGE-M3,
  // the hidden states.
  void add_weights(const TokenIds& ids, const Tensor& rows, VectorResult& result) const {
    const auto add = [&result](std::int32_t id, float weight) {
      if (weight == 0) return;
      result.token_ids.push_back(id);
      result.values.push_back(weight);
    };
    if (modules_.reads_lexical()) {
      for (const auto& [id, weight] : modules_.lexical_weights(ids, rows)) {
        if (std::ranges::find(left_out_, id) == left_out_.end()) add(id, weight);
      }
      return;
    }
    for (Dim id = 0; id < rows.width(); ++id) add(static_cast<std::int32_t>(id), rows.row(0)[id]);
  }

  const SentenceEmbedder& modules_;
  Dim model_dim_;
  Dim rows_left_out_;  // number of leading rows that pooling skips
  TokenIds left_out_;  // tokens to drop from lexical weights
  EmbedOptions options_;
};

}  // namespace

bool Embedder::gives(EmbedOutput output) const {
  const TransformerConfig& config = model_.config();
  return config.architecture == Architecture::encoder_only && model_.modules().gives(output, config);
}

Tensor Embedder::embed(const std::vector<std::string>& texts, EmbedOptions options) const {
  options.output = EmbedOutput::dense;
  return read_vectors<EmbedRequest>(*this, std::span(texts), options);
}

std::vector<VectorResult> Embedder::embed_each(const std::vector<std::string>& texts,
                                               const EmbedOptions& options) const {
  std::vector<VectorResult> vectors(texts.size());
  read_texts<EmbedRequest>(*this, std::span(texts), options,
                           [&](std::size_t text, VectorResult result) { vectors[text] = std::move(result); });
  return vectors;
}

Request Embedder::submit(RequestQueue& queue, std::span<const std::string> texts, const EmbedOptions& options,
                         Handlers<VectorResult> handlers, std::uint64_t client) const {
  return submit_texts(queue, std::make_shared<EmbedRequest>(*this, options, std::move(handlers)), texts, client);
}

}  // namespace encdec

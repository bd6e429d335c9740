#include "encdec/models/model/model.h"

#include <fmt/format.h>

#include <numeric>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/generation/not_a_number.h"
#include "encdec/models/generation/scoring.h"
#include "encdec/models/model/fingerprint.h"
#include "encdec/models/model/model_impl.h"
#include "encdec/models/session/token_rows.h"

namespace encdec {

const TransformerConfig& Model::config() const {
  return impl_->config;
}
Precision Model::precision() const {
  return impl_->network->weights.pack().precision;
}
BackendChoice Model::backend() const {
  return impl_->network->weights.pack().backend;
}
std::string Model::backend_of(Precision precision) const {
  std::vector<Dim> widths = {impl_->config.model_dim()};
  if (impl_->config.has_encoder()) widths.push_back(impl_->config.encoder.hidden_dim);
  if (impl_->config.has_decoder()) widths.push_back(impl_->config.decoder.hidden_dim);
  return backend::description(backend(), precision, widths);
}
const GenerateOptions& Model::generation_config() const {
  return impl_->generation;
}
const Tokenizer* Model::tokenizer() const {
  return impl_->tokenizer.get();
}
std::shared_ptr<const Transformer> Model::network() const {
  return impl_->network;
}
const Checkpoint& Model::checkpoint() const {
  return impl_->checkpoint;
}
const SentenceEmbedder& Model::modules() const {
  return impl_->modules;
}
ModelParts Model::parts() const {
  return impl_->parts();
}
const ModelNotes& Model::notes() const {
  return impl_->notes;
}
std::string Model::fingerprint() const {
  return encdec::fingerprint(impl_->folder, impl_->checkpoint, impl_->network->weights.pack());
}

std::vector<ScoreResult> Model::score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                      const ScoreOptions& options) const {
  const ModelParts parts = impl_->parts();
  const Tokenizer& tokenizer = tokenizer_of(parts);
  const EncodeOptions languages{.source_language = options.source_lang, .target_language = options.target_lang};
  std::vector<TokenIds> source_ids, target_ids;
  for (const std::string& source : sources) source_ids.push_back(tokenizer.encode(source, languages));
  for (const std::string& target : targets) target_ids.push_back(encode_target(parts, target, languages));
  return score_ids(source_ids, target_ids, options);
}

std::vector<ScoreResult> Model::score_ids(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                                          const ScoreOptions& options) const {
  const TransformerConfig& config = impl_->config;
  if (!config.has_decoder()) {
    refuse<ConfigError>(impl_->checkpoint.weights->origin(), "{} {}, expected a model that generates",
                        config.model_type, config.why_not_generative());
  }
  if (sources.size() != targets.size()) {
    throw InputError(
        fmt::format("{} sources but {} targets; expected one target per source", sources.size(), targets.size()));
  }
  expect_text_model(impl_->parts());
  if (options.batch_size < 0) {
    throw ConfigError(fmt::format("batch_size is {}, expected at least 0", options.batch_size));
  }
  check_not_empty(sources, "source");
  check_rows(sources, config.input_stack(), "source");

  // Append each target to its prompt, which depends on the languages.
  const ModelParts parts = impl_->parts();
  const GenerateOptions settings = defaults_with_languages(parts, options.source_lang, options.target_lang);
  const Prompter prompter(parts, settings);
  std::vector<ForcedTarget> forced;
  for (std::size_t i = 0; i < sources.size(); ++i) forced.push_back(prompter.force(sources[i], targets[i], i + 1));

  SessionPool::Lease session(*impl_->sessions);
  std::vector<ScoreResult> results;
  try {
    for (std::vector<float>& scores : score_targets(*session, forced, options.batch_size)) {
      results.push_back(
          {.score = std::accumulate(scores.begin(), scores.end(), 0.0), .token_scores = std::move(scores)});
    }
  } catch (const NotANumber& failure) {
    explain(failure, parts);
  }
  return results;
}

AttentionMaps Model::attention(const std::string& source, const std::string& target,
                               const AttentionMapOptions& options) const {
  const ModelParts parts = impl_->parts();
  const Tokenizer& tokenizer = tokenizer_of(parts);
  const EncodeOptions languages{.source_language = options.source_lang, .target_language = options.target_lang};
  // An encoder-only model has no target. attention_ids() refuses a target that is not empty.
  const TokenIds target_ids = impl_->config.has_decoder() ? encode_target(parts, target, languages)
                              : target.empty()            ? TokenIds()
                                                          : tokenizer.encode(target, languages);
  return attention_ids(tokenizer.encode(source, languages), target_ids, options);
}

AttentionMaps Model::attention_ids(const TokenIds& source, const TokenIds& target,
                                   const AttentionMapOptions& options) const {
  const TransformerConfig& config = impl_->config;
  expect_text_model(impl_->parts());
  check_not_empty(std::span(&source, 1), "source");
  check_tokens(source, config.input_stack(), "source", 1);
  AttentionMaps maps{.source = source};
  if (config.has_decoder()) {
    const ModelParts parts = impl_->parts();
    const GenerateOptions settings = defaults_with_languages(parts, options.source_lang, options.target_lang);
    const Prompt prompt = Prompter(parts, settings).force(source, target, 1).prompt;
    maps = attention_tokens(prompt.source, prompt.target, target);
  } else if (!target.empty()) {
    throw InputError(
        fmt::format("a target of {} tokens, expected none: {} does not read it", target.size(), config.model_type));
  }
  SessionPool::Lease session(*impl_->sessions);
  read_attention(*session, options.selection, maps);
  return maps;
}

}  // namespace encdec

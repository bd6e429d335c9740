#include "encdec/models/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/generation/not_a_number.h"
#include "encdec/models/generation/scoring.h"
#include "encdec/models/model/fingerprint.h"
#include "encdec/models/model/generate_call.h"
#include "encdec/models/model/mailbox.h"
#include "encdec/models/model/model_impl.h"
#include "encdec/models/model/request_queue.h"
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
const std::string& Model::weights_note() const {
  return impl_->weights_note;
}
const std::string& Model::precision_note() const {
  return impl_->precision_note;
}
CheckpointFormat Model::format() const {
  return impl_->checkpoint.format;
}
const GenerateOptions& Model::generation_config() const {
  return impl_->generation;
}
const std::vector<std::string>& Model::unsupported_settings() const {
  return impl_->unsupported_settings;
}
const Tokenizer* Model::tokenizer() const {
  return impl_->tokenizer.get();
}
std::shared_ptr<const Transformer> Model::network() const {
  return impl_->network;
}
const WeightStore& Model::weights() const {
  return *impl_->checkpoint.weights;
}
const Checkpoint& Model::checkpoint() const {
  return impl_->checkpoint;
}
ModelParts Model::parts() const {
  return impl_->parts();
}
const std::vector<std::string>& Model::notes() const {
  return impl_->notes;
}
std::string Model::fingerprint() const {
  return encdec::fingerprint(impl_->folder, impl_->checkpoint, impl_->network->weights.pack());
}

std::vector<GenerateResult> Model::generate(const std::vector<std::string>& sources,
                                            const GenerateOptions& options) const {
  ListStream<std::string> list(sources);
  generate_stream(list, options);
  return std::move(list.results);
}

std::vector<GenerateResult> Model::generate_ids(std::span<const TokenIds> sources,
                                                const GenerateOptions& options) const {
  // Check all sources before any work. A source that will be truncated may be too long, and is checked when it is read.
  expect_text_model(impl_->parts());
  if (options.long_sources == LongSources::error) check_rows(sources, impl_->config.input_stack(), "source");
  ListStream<TokenIds> list(sources);
  generate_stream(list, options);
  return std::move(list.results);
}

std::vector<GenerateResult> Model::generate_inputs(std::span<const GenerateInput> inputs,
                                                   const GenerateOptions& options) const {
  ListStream<GenerateInput> list(inputs);
  generate_stream(list, options);
  return std::move(list.results);
}

void Model::generate_stream(GenerateStream& stream, const GenerateOptions& options) const {
  encdec::generate(*this, options, stream);
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
                        config.model_type, config.why_it_writes_nothing());
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

// Throws ConfigError unless the model is a classifier of this kind.
void Model::expect_head(HeadKind kind) const {
  const auto name = [](HeadKind head) {
    return head == HeadKind::sequences ? "a classifier of texts"
           : head == HeadKind::tokens  ? "a classifier of tokens"
                                       : "a model without a head for labels";
  };
  const HeadConfig& own = impl_->config.head;
  const HeadKind head = own.classifies_texts() ? HeadKind::sequences : own.kind;
  if (head == kind) return;
  refuse<ConfigError>(impl_->folder.string(), "{}, expected {}: architectures in config.json end with {}", name(head),
                      name(kind), kind == HeadKind::tokens ? "ForTokenClassification" : "ForSequenceClassification");
}

std::unique_ptr<const VectorTask> Model::embedding_task(const EmbedOptions& options) const {
  return std::make_unique<EmbeddingTask>(impl_->parts(), impl_->embedder, options);
}

std::unique_ptr<const VectorTask> Model::classification_task(const ClassifyOptions& options) const {
  expect_head(HeadKind::sequences);
  return std::make_unique<ClassificationTask>(impl_->parts(), *classifier(), impl_->embedder, options);
}

std::unique_ptr<const TaggingTask> Model::tagging_task(const TagOptions& options) const {
  expect_head(HeadKind::tokens);
  return std::make_unique<TaggingTask>(impl_->parts(), *classifier(), impl_->embedder, options);
}

const Classifier* Model::classifier() const {
  return impl_->classifier ? &*impl_->classifier : nullptr;
}

// Reads texts in a queue of this call, and calls take(index, result) for each, one call at a time.
template <class Result, class Text, class Options, class Take>
void Model::read(std::span<const Text> texts, const Options& options, const Take& take) const {
  Mailbox<std::exception_ptr> failures;  // woken when all results are there
  std::atomic<std::size_t> missing = texts.size();
  RequestQueue queue(*this, {.batch_size = options.batch_size});
  queue.submit(texts, options,
               {.on_result =
                    [&](std::size_t text, Result result) {
                      take(text, std::move(result));
                      if (--missing == 0) failures.wake();
                    },
                .on_failure = [&](std::size_t, std::exception_ptr failure) { failures.put(std::move(failure)); }});
  while (missing > 0) {
    for (const std::exception_ptr& failure : failures.take(kCancellationInterval)) std::rethrow_exception(failure);
  }
}

// Returns the vectors [N, width] of texts.
template <class Text, class Options>
Tensor Model::vectors(std::span<const Text> texts, const Options& options, Dim width) const {
  Tensor vectors = Tensor::allocate({static_cast<Dim>(texts.size()), width});
  read<VectorResult>(texts, options, [&](std::size_t text, const VectorResult& result) {
    std::ranges::copy(result.values, vectors.row(static_cast<Dim>(text)));
  });
  return vectors;
}

std::vector<std::vector<Entity>> Model::tag(std::span<const std::string> texts, const TagOptions& options) const {
  tagging_task(options);  // checks the options, also if there are no texts
  std::vector<std::vector<Entity>> entities(texts.size());
  read<std::vector<Entity>>(texts, options,
                            [&](std::size_t text, std::vector<Entity> found) { entities[text] = std::move(found); });
  return entities;
}

bool Model::gives(EmbedOutput output) const {
  return impl_->config.architecture == Architecture::encoder_only && impl_->embedder.gives(output, impl_->config);
}

Tensor Model::embed(const std::vector<std::string>& texts, EmbedOptions options) const {
  options.output = EmbedOutput::dense;
  return vectors(std::span(texts), options, embedding_task(options)->width());
}

std::vector<SparseVector> Model::embed_sparse(const std::vector<std::string>& texts, EmbedOptions options) const {
  options.output = EmbedOutput::sparse;
  embedding_task(options);  // checks the options, also if there are no texts
  std::vector<SparseVector> vectors(texts.size());
  read<VectorResult>(std::span(texts), options, [&](std::size_t text, VectorResult result) {
    vectors[text] = {std::move(result.token_ids), std::move(result.values)};
  });
  return vectors;
}

std::vector<Tensor> Model::embed_tokens(const std::vector<std::string>& texts, EmbedOptions options) const {
  options.output = EmbedOutput::tokens;
  return matrices(texts, options);
}

std::vector<Tensor> Model::embed_colbert(const std::vector<std::string>& texts, EmbedOptions options) const {
  options.output = EmbedOutput::colbert;
  return matrices(texts, options);
}

// Returns the vectors of each text's tokens.
std::vector<Tensor> Model::matrices(const std::vector<std::string>& texts, const EmbedOptions& options) const {
  const Dim width = embedding_task(options)->width();
  std::vector<Tensor> matrices(texts.size());
  read<VectorResult>(std::span(texts), options, [&](std::size_t text, const VectorResult& result) {
    matrices[text] = Tensor::allocate({static_cast<Dim>(result.rows), width});
    std::ranges::copy(result.values, matrices[text].data<float>());
  });
  return matrices;
}

Tensor Model::classify(std::span<const TextPair> texts, const ClassifyOptions& options) const {
  return vectors(texts, options, classification_task(options)->width());
}

Tensor Model::classify_by_labels(std::span<const std::string> texts, std::span<const std::string> labels,
                                 const ZeroShotOptions& options) const {
  const ClassifyOptions raw{.batch_size = options.batch_size,
                            .function = ScoreFunction::none,
                            .max_length = options.max_length,
                            .long_texts = options.long_texts,
                            .truncation = Truncation::only_first};
  const auto outputs = static_cast<std::size_t>(classification_task(raw)->width());
  const std::vector<SharedText> sentences = hypotheses(labels, options.hypothesis_template);
  std::vector<TextPair> pairs;
  for (const std::string& each : texts) {
    const SharedText text(each);
    for (const SharedText& sentence : sentences) pairs.push_back({text, sentence});
  }
  const Tensor logits = classify(pairs, raw);
  Tensor scores = Tensor::allocate({static_cast<Dim>(texts.size()), static_cast<Dim>(labels.size())});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const float* of_text = logits.data<float>() + i * labels.size() * outputs;
    std::ranges::copy(classifier()->candidate_scores({of_text, labels.size() * outputs}, options.multi_label),
                      scores.row(static_cast<Dim>(i)));
  }
  return scores;
}

std::vector<Ranking> Model::rerank(const std::string& query, std::span<const std::string> documents,
                                   const RerankOptions& options) const {
  ClassifyOptions pairs{
      .batch_size = options.batch_size, .max_length = options.max_length, .long_texts = options.long_texts};
  const Dim labels = classification_task(pairs)->width();
  if (labels != 1) refuse<ConfigError>(impl_->folder.string(), "{} labels, expected 1: a model that ranks", labels);
  if (documents.empty()) throw InputError("a query without documents, expected at least one");
  check_range("top_n", options.top_n, 0, std::numeric_limits<int>::max());
  pairs.function = options.raw_scores ? ScoreFunction::none : classifier()->ranking_function();
  const SharedText shared(query);
  std::vector<TextPair> texts;
  for (const std::string& document : documents) texts.push_back({shared, document});
  const Tensor scores = classify(texts, pairs);
  return ranked({scores.data<float>(), documents.size()}, options.top_n);
}

}  // namespace encdec

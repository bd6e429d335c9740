#include "encdec/models/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/families/model_description.h"
#include "encdec/models/generation/generator.h"
#include "encdec/models/generation/scoring.h"
#include "encdec/models/packed_weights_cache.h"
#include "encdec/models/precision_probe.h"
#include "encdec/models/sentence_embedder.h"

namespace encdec {

// A target that a decoder is made to read.
struct ForcedTarget {
  Prompt prompt;
  TokenIds read = {};  // by the decoder: the prompt's target, then the target but for its last token
};

struct Model::Impl {
  TransformerConfig config;
  CheckpointFormat format = CheckpointFormat::safetensors;
  GenerationConfig generation;
  std::shared_ptr<const WeightStore> weights;
  std::shared_ptr<const Transformer> network;
  std::unique_ptr<const Tokenizer> tokenizer;
  SentenceEmbedder embedder;
  std::vector<std::string> notes;
  std::string precision_note;
  std::unique_ptr<SessionPool> sessions;

  Generator::Parts generator_parts() { return {*network, generation, tokenizer.get(), weights->origin(), *sessions}; }
  TokenIds encode_target(const std::string& target, const EncodeOptions& languages);
  ForcedTarget force(const TokenIds& source, const TokenIds& target, const GenerationConfig& settings,
                     std::size_t number);
};

namespace {

// Checked before any work is done, so that a bad source is found at once and by its number.
void check_rows(std::span<const TokenIds> rows, const StackConfig& stack, std::string_view what) {
  for (std::size_t i = 0; i < rows.size(); ++i) check_tokens(rows[i], stack, what, i + 1);
}

void check_not_empty(std::span<const TokenIds> rows, std::string_view what) {
  const auto empty = std::ranges::find_if(rows, &TokenIds::empty);
  if (empty != rows.end()) {
    throw InputError(fmt::format("{} {}: no tokens, expected at least one", what, empty - rows.begin() + 1));
  }
}

int checked_option(std::string_view name, int value, int minimum) {
  if (value < minimum) throw ConfigError(fmt::format("{} is {}, expected at least {}", name, value, minimum));
  return value;
}

template <class Source>
std::vector<GenerateInput> as_inputs(std::span<const Source> sources) {
  std::vector<GenerateInput> inputs;
  inputs.reserve(sources.size());
  for (const Source& source : sources) inputs.push_back({.source = source});
  return inputs;
}

// Inputs and results that are all in memory.
class InputList final : public GenerateStream {
 public:
  explicit InputList(std::span<const GenerateInput> inputs) : inputs_(inputs) {}

  std::optional<GenerateInput> next(Wait /*wait*/) override {
    return read_ < inputs_.size() ? std::optional(inputs_[read_++]) : std::nullopt;
  }
  void write(GenerateResult result) override { results.push_back(std::move(result)); }

  std::vector<GenerateResult> results;

 private:
  std::span<const GenerateInput> inputs_;
  std::size_t read_ = 0;
};

// Consecutive members of `order` that make a batch: as many as `batch_size`, or, where it is 0, tokens enough to keep
// the CPU busy.
std::span<const std::size_t> batch_at(std::size_t first, std::span<const std::size_t> order,
                                      std::span<const TokenIds> rows, int batch_size) {
  constexpr std::size_t kBusyTokens = 2048;
  const auto most = batch_size == 0 ? order.size() : static_cast<std::size_t>(batch_size);
  std::size_t count = 0, tokens = 0;
  while (first + count < order.size() && count < most) {
    tokens += rows[order[first + count]].size();
    if (batch_size == 0 && count > 0 && tokens > kBusyTokens) break;
    ++count;
  }
  return order.subspan(first, count);
}

// Copies packed rows [sum of lengths, W] into `padded` [B, L, W], which is zero.
void unpack(const Tensor& packed, std::span<const TokenIds> rows, Tensor& padded) {
  const Dim width = packed.width();
  const Dim length = padded.shape()[1];
  std::int64_t first = 0;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const auto count = static_cast<std::int64_t>(rows[b].size());
    std::copy_n(packed.row(first), count * width, padded.row(static_cast<std::int64_t>(b) * length));
    first += count;
  }
}

// The rows that are not empty, so that those of like length meet in a batch; a result does not depend on it.
std::vector<std::size_t> longest_first(std::span<const TokenIds> rows) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].empty()) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return rows[i].size(); });
  return order;
}

Dim longest(std::span<const TokenIds> rows) {
  std::size_t length = 0;
  for (const TokenIds& row : rows) length = std::max(length, row.size());
  return static_cast<Dim>(length);
}

}  // namespace

TokenIds Model::Impl::encode_target(const std::string& target, const EncodeOptions& languages) {
  TokenIds ids = tokenizer_of(generator_parts()).encode_target(target, languages);
  if (config.target_language != TargetLanguage::start_token || ids.empty()) return ids;
  // Such tokenizers put the language at the end of a target, for whoever shifts it to the front.
  const auto token = tokenizer->language_token(languages.target_language);
  if (token ? ids.back() == *token : ids.back() == generation.decoder_start_token) ids.pop_back();
  return ids;
}

// `number` of the pair, for messages. Throws InputError for tokens that the model does not have, or too many of them.
ForcedTarget Model::Impl::force(const TokenIds& source, const TokenIds& target, const GenerationConfig& settings,
                                std::size_t number) {
  ForcedTarget forced{.prompt = config.has_encoder()
                                    ? Prompt{source, {decoder_start_token(generator_parts(), settings)}}
                                    : Prompt{{}, source}};
  forced.read = forced.prompt.target;
  forced.read.insert(forced.read.end(), target.begin(), target.end());
  if (!target.empty()) forced.read.pop_back();
  check_tokens(target, {.vocabulary = config.decoder.vocabulary}, "target", number);
  check_tokens(forced.read, config.decoder, "target", number);
  return forced;
}

namespace {

// The fastest precision in which the network gives what it gives in float32, and the network.
std::shared_ptr<const Transformer> build_fastest(
    const std::function<std::shared_ptr<const Transformer>(Precision)>& build) {
  std::vector<Precision> candidates = {Precision::int8};
  if (backend::multiplies_in(Precision::bfloat16)) candidates.push_back(Precision::bfloat16);
  std::shared_ptr<const Transformer> network = build(Precision::float32);
  const Tensor expected = probe(network);
  const Architecture architecture = network->config.architecture;
  for (const Precision precision : candidates) {
    network.reset();  // two at once may not fit
    network = build(precision);
    if (divergence(expected, probe(network), architecture) <= kNegligibleDivergence) return network;
  }
  network.reset();
  return build(Precision::float32);
}

}  // namespace

Model Model::load(const std::filesystem::path& path, const LoadOptions& options) {
  const std::filesystem::path folder = SentenceEmbedder::transformer_folder(path);
  auto impl = std::make_unique<Impl>();
  const Checkpoint checkpoint = open_checkpoint(folder);
  ModelDescription description = describe_model(checkpoint);
  impl->config = std::move(description.config);
  impl->weights = checkpoint.weights;
  impl->notes = checkpoint.notes;
  impl->format = checkpoint.format;
  impl->tokenizer = load_tokenizer(folder, impl->config.model_type);
  if (impl->config.has_decoder()) {
    impl->generation = read_generation_settings(checkpoint, impl->config, impl->tokenizer.get());
    for (const std::string& setting : impl->generation.unsupported) {
      impl->notes.push_back(fmt::format("generation setting not supported yet, ignored: {}", setting));
    }
  }
  const int threads = options.threads == 0 ? available_cpus() : checked_option("threads", options.threads, 0);
  const ContentHash content = options.packed_weights_cache.empty() ? ContentHash{} : content_of(*impl->weights);
  const auto build = [&](Precision precision) {
    PackOptions pack{.threads = threads, .precision = precision};
    std::shared_ptr<PackedWeightsCache> cache;
    if (!options.packed_weights_cache.empty()) {
      cache = std::make_shared<PackedWeightsCache>(options.packed_weights_cache, packed_weights_key(content, pack));
      pack.packed = cache;
    }
    auto network =
        std::make_shared<const Transformer>(impl->config, WeightScope(impl->weights, description.weight_names, pack));
    if (cache != nullptr) {
      cache->finish();
      impl->notes.insert(impl->notes.end(), cache->notes().begin(), cache->notes().end());
    }
    return network;
  };
  impl->network = options.precision == Precision::automatic ? build_fastest(build) : build(options.precision);
  const Precision precision = impl->network->weights.pack().precision;
  if (options.precision == Precision::automatic) {
    impl->precision_note = fmt::format("precision auto: {}", to_string(precision));
  } else if (!backend::multiplies_in(precision)) {
    impl->precision_note = fmt::format(
        "precision {0}: this CPU has no instructions for it; weights and inputs are rounded to {0} and multiplied as "
        "float32",
        to_string(precision));
  }
  if (const std::string note = backend::disagreements(precision); !note.empty()) {
    impl->precision_note += (impl->precision_note.empty() ? "" : "; ") + note;
  }
  impl->sessions = std::make_unique<SessionPool>(impl->network, threads);
  for (const std::string& name : impl->network->weights.unused())
    impl->notes.push_back(fmt::format("tensor not used: {}", name));
  if (impl->config.architecture == Architecture::encoder_only) {
    impl->embedder = SentenceEmbedder::read(path, impl->config.model_dim);
  }
  return Model(std::move(impl));
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

const TransformerConfig& Model::config() const {
  return impl_->config;
}
Precision Model::precision() const {
  return impl_->network->weights.pack().precision;
}
const std::string& Model::precision_note() const {
  return impl_->precision_note;
}
CheckpointFormat Model::format() const {
  return impl_->format;
}
const GenerationConfig& Model::generation_config() const {
  return impl_->generation;
}
const Tokenizer* Model::tokenizer() const {
  return impl_->tokenizer.get();
}
std::shared_ptr<const Transformer> Model::network() const {
  return impl_->network;
}
const WeightStore& Model::weights() const {
  return *impl_->weights;
}
const std::vector<std::string>& Model::notes() const {
  return impl_->notes;
}

std::vector<GenerateResult> Model::generate(const std::vector<std::string>& sources,
                                            const GenerateOptions& options) const {
  return generate_inputs(as_inputs<std::string>(sources), options);
}

std::vector<GenerateResult> Model::generate_ids(std::span<const TokenIds> sources,
                                                const GenerateOptions& options) const {
  check_rows(sources, impl_->config.input_stack(), "source");
  return generate_inputs(as_inputs<TokenIds>(sources), options);
}

std::vector<GenerateResult> Model::generate_inputs(std::span<const GenerateInput> inputs,
                                                   const GenerateOptions& options) const {
  InputList list(inputs);
  generate_stream(list, options);
  return std::move(list.results);
}

void Model::generate_stream(GenerateStream& stream, const GenerateOptions& options) const {
  Generator(impl_->generator_parts(), options).run(stream);
}

std::vector<ScoreResult> Model::score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                      const ScoreOptions& options) const {
  const Tokenizer& tokenizer = tokenizer_of(impl_->generator_parts());
  const EncodeOptions languages{.source_language = options.source_lang, .target_language = options.target_lang};
  std::vector<TokenIds> source_ids, target_ids;
  for (const std::string& source : sources) source_ids.push_back(tokenizer.encode(source, languages));
  for (const std::string& target : targets) target_ids.push_back(impl_->encode_target(target, languages));
  return score_ids(source_ids, target_ids, options);
}

std::vector<ScoreResult> Model::score_ids(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                                          const ScoreOptions& options) const {
  const TransformerConfig& config = impl_->config;
  if (!config.has_decoder()) {
    throw ConfigError(fmt::format("{}: {} has no decoder, expected a model that generates", impl_->weights->origin(),
                                  config.model_type));
  }
  if (sources.size() != targets.size()) {
    throw InputError(fmt::format("{} sources and {} targets, expected as many", sources.size(), targets.size()));
  }
  checked_option("batch_size", options.batch_size, 0);
  check_not_empty(sources, "source");
  check_rows(sources, config.input_stack(), "source");

  GenerationConfig generation = impl_->generation;
  set_languages(impl_->generator_parts(), options.source_lang, options.target_lang, generation);
  std::vector<Prompt> prompts;
  std::vector<TokenIds> read;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ForcedTarget forced = impl_->force(sources[i], targets[i], generation, i + 1);
    prompts.push_back(std::move(forced.prompt));
    read.push_back(std::move(forced.read));
  }

  std::vector<ScoreResult> results(sources.size());
  SessionPool::Lease session(*impl_->sessions);
  const std::vector<std::size_t> order = longest_first(read);
  for (std::size_t first = 0; first < order.size();) {
    const auto members = batch_at(first, order, read, options.batch_size);
    std::vector<Prompt> batch;
    std::vector<TokenIds> batch_targets;
    for (const std::size_t i : members) {
      batch.push_back(std::move(prompts[i]));
      batch_targets.push_back(targets[i]);
    }
    auto scores = score_targets(*session, batch, batch_targets);
    for (std::size_t b = 0; b < members.size(); ++b) {
      ScoreResult& result = results[members[b]];
      result.token_scores = std::move(scores[b]);
      for (const float score : result.token_scores) result.score += score;
    }
    first += members.size();
  }
  return results;
}

AttentionMaps Model::attention(const std::string& source, const std::string& target,
                               const AttentionMapOptions& options) const {
  const Tokenizer& tokenizer = tokenizer_of(impl_->generator_parts());
  const EncodeOptions languages{.source_language = options.source_lang, .target_language = options.target_lang};
  const TokenIds target_ids = impl_->config.has_decoder() ? impl_->encode_target(target, languages) : TokenIds();
  return attention_ids(tokenizer.encode(source, languages), target_ids, options);
}

AttentionMaps Model::attention_ids(const TokenIds& source, const TokenIds& target,
                                   const AttentionMapOptions& options) const {
  const TransformerConfig& config = impl_->config;
  check_not_empty(std::span(&source, 1), "source");
  check_rows(std::span(&source, 1), config.input_stack(), "source");
  SessionPool::Lease session(*impl_->sessions);
  if (!config.has_decoder()) {
    if (!target.empty()) {
      throw InputError(
          fmt::format("a target of {} tokens, expected none: {} does not read it", target.size(), config.model_type));
    }
    AttentionMaps maps{.source = source};
    read_attention(*session, options.selection, maps);
    return maps;
  }
  GenerationConfig generation = impl_->generation;
  set_languages(impl_->generator_parts(), options.source_lang, options.target_lang, generation);
  const Prompt prompt = impl_->force(source, target, generation, 1).prompt;
  AttentionMaps maps = attention_tokens(prompt.source, prompt.target, target);
  read_attention(*session, options.selection, maps);
  return maps;
}

ForwardResult Model::forward(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                             const ForwardOptions& options) const {
  const TransformerConfig& config = impl_->config;
  if (config.architecture == Architecture::encoder_decoder && sources.size() != targets.size()) {
    throw InputError(fmt::format("{} sources and {} targets, expected as many", sources.size(), targets.size()));
  }
  const auto check = [&](std::span<const TokenIds> rows, bool has_stack, const StackConfig& stack,
                         std::string_view what) {
    if (!has_stack && !rows.empty()) {
      throw InputError(
          fmt::format("{} {}s, expected none: {} does not read them", rows.size(), what, config.model_type));
    }
    check_not_empty(rows, what);
    check_rows(rows, stack, what);
  };
  check(sources, config.has_encoder(), config.encoder, "source");
  check(targets, config.has_decoder(), config.decoder, "target");

  ForwardResult result;
  SessionPool::Lease session(*impl_->sessions);
  session->set_observer(options.observer);
  std::span<const int> opened;
  if (config.has_encoder()) {
    result.encoder_last_hidden_state =
        Tensor::allocate({static_cast<Dim>(sources.size()), longest(sources), config.model_dim});
    if (!sources.empty()) {
      const Session::Encoded encoded = session->encode(sources);
      unpack(encoded.hidden, sources, result.encoder_last_hidden_state);
      opened = encoded.sources;
    }
  }
  if (config.has_decoder()) {
    result.logits = Tensor::allocate({static_cast<Dim>(targets.size()), longest(targets), config.decoder.vocabulary});
    std::vector<Session::TargetTokens> inputs;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const int source = config.has_encoder() ? opened[i] : Session::kNoSource;
      inputs.push_back({session->open_target(source), targets[i]});
    }
    if (!targets.empty()) unpack(session->decode(inputs, Session::LogitsOf::every_token), targets, result.logits);
  }
  return result;
}

std::vector<std::vector<float>> Model::embed(const std::vector<std::string>& texts, const EmbedOptions& options) const {
  checked_option("batch_size", options.batch_size, 0);
  if (impl_->config.architecture != Architecture::encoder_only) {
    throw ConfigError(fmt::format("{}: {} has a decoder, expected an encoder-only model", impl_->weights->origin(),
                                  impl_->config.model_type));
  }
  if (impl_->tokenizer == nullptr) {
    throw TokenizerError(fmt::format("{}: no tokenizer files", impl_->weights->origin()));
  }
  EncodeOptions encoding{.max_length = impl_->embedder.max_length()};
  if (const auto positions = impl_->config.encoder.position_limit()) {
    const auto limit = static_cast<std::size_t>(*positions);
    encoding.max_length = encoding.max_length == 0 ? limit : std::min(encoding.max_length, limit);
  }
  std::vector<TokenIds> ids;
  ids.reserve(texts.size());
  for (const std::string& text : texts)
    ids.push_back(impl_->tokenizer->encode(impl_->embedder.prompt() + text, encoding));
  check_not_empty(ids, "text");  // a vocabulary without tokenizer adds no tokens to an empty text
  check_rows(ids, impl_->config.encoder, "text");

  const std::vector<std::size_t> order = longest_first(ids);
  std::vector<std::vector<float>> results(texts.size());
  SessionPool::Lease session(*impl_->sessions);
  std::vector<TokenIds> batch;
  for (std::size_t first = 0; first < order.size();) {
    const auto members = batch_at(first, order, ids, options.batch_size);
    batch.clear();
    for (const std::size_t i : members) batch.push_back(ids[i]);
    const Tensor hidden = session->encode(batch).hidden;
    Dim row = 0;
    for (const std::size_t i : members) {
      const auto rows = static_cast<Dim>(ids[i].size());
      results[i] = impl_->embedder.embed(hidden.slice(row, rows));
      row += rows;
    }
    first += members.size();
  }
  return results;
}

}  // namespace encdec

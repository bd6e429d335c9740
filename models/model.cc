#include "encdec/models/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/families/model_description.h"
#include "encdec/models/generation/greedy.h"
#include "encdec/models/sentence_embedder.h"

namespace encdec {

struct Model::Impl {
  TransformerConfig config;
  CheckpointFormat format = CheckpointFormat::safetensors;
  GenerationConfig generation;
  std::shared_ptr<const WeightStore> weights;
  std::shared_ptr<const Transformer> network;
  std::unique_ptr<const Tokenizer> tokenizer;
  SentenceEmbedder embedder;
  std::vector<std::string> notes;
  int threads = 1;

  // Sessions that no call uses now.
  std::mutex mutex;
  std::vector<std::unique_ptr<Session>> idle;
};

namespace {

// A session of the model for the time of one call.
template <class Impl>
class SessionLease {
 public:
  explicit SessionLease(Impl& model) : model_(model) {
    const std::lock_guard lock(model.mutex);
    if (!model.idle.empty()) {
      session_ = std::move(model.idle.back());
      model.idle.pop_back();
    } else {
      session_ = std::make_unique<Session>(model.network, std::make_shared<ThreadTeam>(model.threads));
    }
  }
  ~SessionLease() {
    session_->set_observer({});
    const std::lock_guard lock(model_.mutex);
    model_.idle.push_back(std::move(session_));
  }
  SessionLease(const SessionLease&) = delete;
  SessionLease& operator=(const SessionLease&) = delete;

  Session& operator*() { return *session_; }
  Session* operator->() { return session_.get(); }

 private:
  Impl& model_;
  std::unique_ptr<Session> session_;
};

// Checked before any work is done, so that a bad source is found at once and by its number.
void check_tokens(std::span<const TokenIds> rows, const StackConfig& stack, std::string_view what) {
  const Dim vocabulary = stack.input_tokens();
  const auto positions = stack.position_limit();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (positions && rows[i].size() > static_cast<std::size_t>(*positions)) {
      throw InputError(fmt::format("{} {}: {} tokens, expected at most {}: the model has no more positions", what,
                                   i + 1, rows[i].size(), *positions));
    }
    for (const std::int32_t id : rows[i]) {
      if (id < 0 || id >= vocabulary) {
        throw InputError(fmt::format("{} {}: token id {}, expected 0 to {}", what, i + 1, id, vocabulary - 1));
      }
    }
  }
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

// What the languages that are asked for mean for the decoder; what they mean for the source is the tokenizer's matter.
void set_languages(const Model& model, const GenerateOptions& options, GenerationConfig& config) {
  if (options.source_lang.empty() && options.target_lang.empty()) return;
  const Tokenizer* tokenizer = model.tokenizer();
  if (tokenizer == nullptr || tokenizer->languages().empty()) {
    throw ConfigError(
        fmt::format("{}: the model knows no languages by name, expected neither source_lang nor "
                    "target_lang",
                    model.weights().origin()));
  }
  for (const std::string& language : {options.source_lang, options.target_lang}) {
    if (language.empty() || tokenizer->language_token(language)) continue;
    throw ConfigError(fmt::format("{}: language '{}' is not known, expected one of {}", model.weights().origin(),
                                  printable(language), fmt::join(tokenizer->languages(), ", ")));
  }
  if (options.target_lang.empty()) return;
  const auto token = tokenizer->language_token(options.target_lang);
  switch (model.config().target_language) {
    case TargetLanguage::none: break;
    case TargetLanguage::first_token: config.forced_bos_token = token; break;
    case TargetLanguage::start_token: config.decoder_start_token = token; break;
  }
}

GenerationConfig with_options(const Model& model, const GenerateOptions& options) {
  GenerationConfig config = model.generation_config();
  if (options.num_beams && *options.num_beams != 1) {
    throw ConfigError(
        fmt::format("num_beams is {}, but beam search is not supported yet, expected 1", *options.num_beams));
  }
  checked_option("batch_size", options.batch_size, 1);
  if (options.max_new_tokens) config.max_new_tokens = checked_option("max_new_tokens", *options.max_new_tokens, 1);
  if (options.min_new_tokens) config.min_new_tokens = checked_option("min_new_tokens", *options.min_new_tokens, 0);
  set_languages(model, options, config);
  if (options.forced_bos_token) {
    const Dim vocabulary = model.config().decoder.vocabulary;
    if (*options.forced_bos_token < 0 || *options.forced_bos_token >= vocabulary) {
      throw ConfigError(
          fmt::format("forced_bos_token is {}, expected 0 to {}", *options.forced_bos_token, vocabulary - 1));
    }
    config.forced_bos_token = options.forced_bos_token;
  }
  if (model.config().has_encoder() && !config.decoder_start_token) {
    throw ConfigError(fmt::format("{}: no decoder_start_token_id, expected {}", model.weights().origin(),
                                  model.config().target_language == TargetLanguage::start_token
                                      ? "a target language to begin with"
                                      : "one in generation_config.json or config.json"));
  }
  return config;
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
  impl->threads = options.threads == 0 ? available_cpus() : checked_option("threads", options.threads, 0);
  const WeightScope scope(impl->weights, std::move(description.weight_names), {.threads = impl->threads});
  impl->network = std::make_shared<Transformer>(impl->config, scope);
  for (const std::string& name : scope.unused()) impl->notes.push_back(fmt::format("tensor not used: {}", name));
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
  if (impl_->tokenizer == nullptr) {
    throw TokenizerError(fmt::format("{}: no tokenizer files, expected token ids as input", impl_->weights->origin()));
  }
  const EncodeOptions languages{.source_language = options.source_lang, .target_language = options.target_lang};
  std::vector<TokenIds> ids;
  ids.reserve(sources.size());
  // An empty line is an empty source: it has nothing to translate, though the tokenizer would still add its end token.
  for (const std::string& source : sources)
    ids.push_back(source.empty() ? TokenIds() : impl_->tokenizer->encode(source, languages));
  auto results = generate_ids(ids, options);
  for (GenerateResult& result : results) {
    for (Hypothesis& hypothesis : result.hypotheses)
      hypothesis.text = decode_known(*impl_->tokenizer, hypothesis.token_ids);
  }
  return results;
}

std::vector<GenerateResult> Model::generate_ids(std::span<const TokenIds> sources,
                                                const GenerateOptions& options) const {
  if (!impl_->config.has_decoder()) {
    throw ConfigError(fmt::format("{}: {} has no decoder and cannot generate, expected embed()",
                                  impl_->weights->origin(), impl_->config.model_type));
  }
  const GenerationConfig config = with_options(*this, options);
  check_tokens(sources, impl_->config.input_stack(), "source");

  const std::vector<std::size_t> order = longest_first(sources);
  std::vector<GenerateResult> results(sources.size(), {{Hypothesis{}}});
  GenerateProgress progress{.finished_sources = sources.size() - order.size()};
  SessionLease session(*impl_);
  session->reset_times();
  const auto batch_size = static_cast<std::size_t>(options.batch_size);
  std::vector<Prompt> batch;
  for (std::size_t first = 0; first < order.size(); first += batch_size) {
    const auto members = std::span(order).subspan(first, std::min(batch_size, order.size() - first));
    batch.clear();
    for (const std::size_t i : members) {
      batch.push_back(impl_->config.has_encoder() ? Prompt{sources[i], {*config.decoder_start_token}}
                                                  : Prompt{{}, sources[i]});
    }
    TokenCallback on_token;
    if (options.on_token) {
      on_token = [&](std::size_t source, std::int32_t token) { options.on_token(members[source], token); };
    }
    auto generated = generate_greedily(*session, batch, config, on_token);
    for (std::size_t b = 0; b < members.size(); ++b) {
      progress.source_tokens += sources[members[b]].size();
      progress.generated_tokens += generated[b].tokens.size();
      Hypothesis& hypothesis = results[members[b]].hypotheses.front();
      hypothesis.token_ids = std::move(generated[b].tokens);
      hypothesis.score = generated[b].score;
    }
    progress.finished_sources += members.size();
    progress.encode_seconds = session->encode_seconds();
    progress.decode_seconds = session->decode_seconds();
    if (options.on_progress) options.on_progress(progress);
  }
  return results;
}

ForwardResult Model::forward(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                             const ForwardOptions& options) const {
  const TransformerConfig& config = impl_->config;
  if (config.architecture == Architecture::encoder_decoder && sources.size() != targets.size()) {
    throw InputError(fmt::format("{} sources and {} targets, expected as many", sources.size(), targets.size()));
  }
  const auto check_rows = [&](std::span<const TokenIds> rows, bool has_stack, const StackConfig& stack,
                              std::string_view what) {
    if (!has_stack && !rows.empty()) {
      throw InputError(
          fmt::format("{} {}s, expected none: {} does not read them", rows.size(), what, config.model_type));
    }
    check_not_empty(rows, what);
    check_tokens(rows, stack, what);
  };
  check_rows(sources, config.has_encoder(), config.encoder, "source");
  check_rows(targets, config.has_decoder(), config.decoder, "target");

  ForwardResult result;
  SessionLease session(*impl_);
  session->set_observer(options.observer);
  session->close_targets();
  if (config.has_encoder()) {
    result.encoder_last_hidden_state =
        Tensor::allocate({static_cast<Dim>(sources.size()), longest(sources), config.model_dim});
    if (!sources.empty()) unpack(session->encode(sources), sources, result.encoder_last_hidden_state);
  }
  if (config.has_decoder()) {
    result.logits = Tensor::allocate({static_cast<Dim>(targets.size()), longest(targets), config.decoder.vocabulary});
    std::vector<Session::TargetTokens> inputs;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const int source = config.has_encoder() ? static_cast<int>(i) : Session::kNoSource;
      inputs.push_back({session->open_target(source), targets[i]});
    }
    if (!targets.empty()) unpack(session->decode(inputs, Session::LogitsOf::every_token), targets, result.logits);
  }
  return result;
}

std::vector<std::vector<float>> Model::embed(const std::vector<std::string>& texts, const EmbedOptions& options) const {
  checked_option("batch_size", options.batch_size, 1);
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
  check_tokens(ids, impl_->config.encoder, "text");

  const std::vector<std::size_t> order = longest_first(ids);
  std::vector<std::vector<float>> results(texts.size());
  SessionLease session(*impl_);
  const auto batch_size = static_cast<std::size_t>(options.batch_size);
  std::vector<TokenIds> batch;
  for (std::size_t first = 0; first < order.size(); first += batch_size) {
    const auto members = std::span(order).subspan(first, std::min(batch_size, order.size() - first));
    batch.clear();
    for (const std::size_t i : members) batch.push_back(ids[i]);
    const Tensor& hidden = session->encode(batch);
    Dim row = 0;
    for (const std::size_t i : members) {
      const auto rows = static_cast<Dim>(ids[i].size());
      results[i] = impl_->embedder.embed(hidden.slice(row, rows));
      row += rows;
    }
  }
  return results;
}

}  // namespace encdec

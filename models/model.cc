#include "encdec/models/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/safetensors.h"
#include "encdec/models/families/families.h"
#include "encdec/models/generation/greedy.h"

namespace encdec {

struct Model::Impl {
  TransformerConfig config;
  GenerationConfig generation;
  std::shared_ptr<const WeightStore> weights;
  std::shared_ptr<const EncoderDecoder> network;
  std::unique_ptr<const Tokenizer> tokenizer;
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
void check_tokens(std::span<const TokenIds> rows, Dim vocabulary, std::string_view what) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::int32_t id : rows[i]) {
      if (id < 0 || id >= vocabulary) {
        throw InputError(fmt::format("{} {}: token id {}, expected 0 to {}", what, i + 1, id, vocabulary - 1));
      }
    }
  }
}

int checked_option(std::string_view name, int value, int minimum) {
  if (value < minimum) throw ConfigError(fmt::format("{} is {}, expected at least {}", name, value, minimum));
  return value;
}

GenerationConfig with_options(GenerationConfig config, const GenerateOptions& options) {
  if (options.num_beams && *options.num_beams != 1) {
    throw ConfigError(
        fmt::format("num_beams is {}, but beam search is not supported yet, expected 1", *options.num_beams));
  }
  checked_option("batch_size", options.batch_size, 1);
  if (options.max_new_tokens) config.max_new_tokens = checked_option("max_new_tokens", *options.max_new_tokens, 1);
  if (options.min_new_tokens) config.min_new_tokens = checked_option("min_new_tokens", *options.min_new_tokens, 0);
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

Dim longest(std::span<const TokenIds> rows) {
  std::size_t length = 0;
  for (const TokenIds& row : rows) length = std::max(length, row.size());
  return static_cast<Dim>(length);
}

}  // namespace

Model Model::load(const std::filesystem::path& folder, const LoadOptions& options) {
  auto impl = std::make_unique<Impl>();
  const JsonObject config = read_json_object(folder / "config.json");
  const Family& family = find_family(config);
  impl->config = family.read_config(config);
  const std::filesystem::path generation = folder / "generation_config.json";
  impl->generation =
      read_generation_config(std::filesystem::exists(generation) ? read_json_object(generation) : config, impl->config);
  for (const std::string& setting : impl->generation.unsupported) {
    impl->notes.push_back(fmt::format("generation setting not supported yet, ignored: {}", setting));
  }
  impl->threads = options.threads == 0 ? available_cpus() : checked_option("threads", options.threads, 0);
  impl->weights = read_safetensors(folder);
  const WeightScope scope(impl->weights, family.weight_names(config), {.threads = impl->threads});
  impl->network = std::make_shared<EncoderDecoder>(impl->config, scope);
  for (const std::string& name : scope.unused()) impl->notes.push_back(fmt::format("tensor not used: {}", name));
  impl->tokenizer = load_tokenizer(folder, impl->config.model_type);
  return Model(std::move(impl));
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

const TransformerConfig& Model::config() const {
  return impl_->config;
}
const GenerationConfig& Model::generation_config() const {
  return impl_->generation;
}
const Tokenizer* Model::tokenizer() const {
  return impl_->tokenizer.get();
}
std::shared_ptr<const EncoderDecoder> Model::network() const {
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
  std::vector<TokenIds> ids;
  ids.reserve(sources.size());
  // An empty line is an empty source: it has nothing to translate, though the tokenizer would still add its end token.
  for (const std::string& source : sources)
    ids.push_back(source.empty() ? TokenIds() : impl_->tokenizer->encode(source));
  auto results = generate_ids(ids, options);
  for (GenerateResult& result : results) {
    for (Hypothesis& hypothesis : result.hypotheses) hypothesis.text = impl_->tokenizer->decode(hypothesis.token_ids);
  }
  return results;
}

std::vector<GenerateResult> Model::generate_ids(std::span<const TokenIds> sources,
                                                const GenerateOptions& options) const {
  const GenerationConfig config = with_options(impl_->generation, options);
  check_tokens(sources, impl_->config.encoder.vocabulary, "source");

  // Sources of like length go together; a result does not depend on it.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].empty()) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return sources[i].size(); });

  std::vector<GenerateResult> results(sources.size(), {{Hypothesis{}}});
  GenerateProgress progress{.finished_sources = sources.size() - order.size()};
  SessionLease session(*impl_);
  session->reset_times();
  const auto batch_size = static_cast<std::size_t>(options.batch_size);
  std::vector<TokenIds> batch;
  for (std::size_t first = 0; first < order.size(); first += batch_size) {
    const auto members = std::span(order).subspan(first, std::min(batch_size, order.size() - first));
    batch.clear();
    for (const std::size_t i : members) batch.push_back(sources[i]);
    TokenCallback on_token;
    if (options.on_token) {
      on_token = [&](std::size_t source, std::int32_t token) { options.on_token(members[source], token); };
    }
    auto generated = generate_greedily(*session, batch, config, on_token);
    for (std::size_t b = 0; b < members.size(); ++b) {
      progress.source_tokens += batch[b].size();
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
  if (sources.size() != targets.size()) {
    throw InputError(fmt::format("{} sources and {} targets, expected as many", sources.size(), targets.size()));
  }
  const auto check_rows = [](std::span<const TokenIds> rows, std::string_view what) {
    const auto empty = std::ranges::find_if(rows, &TokenIds::empty);
    if (empty != rows.end()) {
      throw InputError(fmt::format("{} {}: no tokens, expected at least one", what, empty - rows.begin() + 1));
    }
  };
  check_rows(sources, "source");
  check_rows(targets, "target");
  check_tokens(sources, impl_->config.encoder.vocabulary, "source");
  check_tokens(targets, impl_->config.decoder.vocabulary, "target");

  const auto batch = static_cast<Dim>(sources.size());
  ForwardResult result{
      .logits = Tensor::allocate({batch, longest(targets), impl_->config.decoder.vocabulary}),
      .encoder_last_hidden_state = Tensor::allocate({batch, longest(sources), impl_->config.model_dim})};
  SessionLease session(*impl_);
  session->set_observer(options.observer);
  unpack(session->encode(sources), sources, result.encoder_last_hidden_state);
  std::vector<Session::TargetTokens> inputs;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    inputs.push_back({session->open_target(static_cast<int>(i)), targets[i]});
  }
  unpack(session->decode(inputs), targets, result.logits);
  return result;
}

}  // namespace encdec

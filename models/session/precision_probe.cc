#include "encdec/models/session/precision_probe.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/kernels/logits.h"
#include "encdec/models/session/session.h"

namespace encdec {
namespace {

// Size of the probe: number of sequences, and number of tokens or rows in each sequence.
constexpr int kSequences = 4;
constexpr Dim kTokens = 8;

// Returns random tokens for a stack that reads tokens.
std::vector<TokenIds> random_rows(const StackConfig& stack, std::mt19937_64& random) {
  std::vector<TokenIds> rows(kSequences);
  for (TokenIds& row : rows) {
    const auto length = std::min(kTokens, stack.position_limit().value_or(kTokens));
    for (Dim i = 0; i < length; ++i) {
      row.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(stack.vocabulary)));
    }
  }
  return rows;
}

// Returns random frames, uniform in [-1, 1), for a stack that reads frames.
std::vector<Tensor> random_frames(const StackConfig& stack, std::mt19937_64& random) {
  std::vector<Tensor> sources;
  const Dim rows = std::min(kTokens, stack.position_limit().value_or(kTokens));
  for (int i = 0; i < kSequences; ++i) {
    Tensor& source = sources.emplace_back(Tensor::uninitialized({stack.frames.frames_for(rows), stack.frames.width}));
    for (Dim n = 0; n < source.elements(); ++n) {
      source.data<float>()[n] = static_cast<float>(static_cast<double>(random()) * 0x1p-63 - 1);
    }
  }
  return sources;
}

// Copies a tensor that is valid only until the session's next call.
Tensor copy_of(const Tensor& tensor) {
  Tensor copy = Tensor::uninitialized(tensor.shape());
  std::copy_n(tensor.data<float>(), tensor.elements(), copy.data<float>());
  return copy;
}

// Returns sum_i p_i * (log p_i - log q_i), where p and q are the softmax of the two rows of logits.
double kullback_leibler(const float* reference, const float* other, Dim count) {
  const auto size = static_cast<std::size_t>(count);
  const double reference_sum = kernels::log_sum_exp({reference, size}), sum = kernels::log_sum_exp({other, size});
  double total = 0.0;
  for (Dim i = 0; i < count; ++i) {
    const double log_probability = reference[i] - reference_sum;
    // Terms with a probability below e^-50 are negligible, and could be 0 * -infinity.
    if (log_probability > -50.0) total += std::exp(log_probability) * (log_probability - (other[i] - sum));
  }
  return total;
}

double one_minus_cosine(const float* a, const float* b, Dim count) {
  double product = 0.0, a_squared = 0.0, b_squared = 0.0;
  for (Dim i = 0; i < count; ++i) {
    product += static_cast<double>(a[i]) * b[i];
    a_squared += static_cast<double>(a[i]) * a[i];
    b_squared += static_cast<double>(b[i]) * b[i];
  }
  if (a_squared == 0.0 && b_squared == 0.0) return 0.0;
  return 1.0 - product / std::sqrt(a_squared * b_squared);
}

bool gives_logits(const TransformerConfig& config) {
  return config.has_decoder() || config.head.kind == HeadKind::vocabulary;
}

}  // namespace

Tensor probe(const std::shared_ptr<const Transformer>& network) {
  const TransformerConfig& config = network->config;
  std::mt19937_64 random(1);  // the C++ standard defines this generator's output exactly
  Session session(network, std::make_shared<ThreadTeam>());
  std::vector<int> sources(kSequences, Session::kNoSource);
  if (config.has_encoder()) {
    const auto encoded = config.source_kind() == SourceKind::frames
                             ? session.encode(random_frames(config.encoder, random))
                             : session.encode(random_rows(config.encoder, random));
    if (!config.has_decoder()) return copy_of(gives_logits(config) ? session.classify(encoded) : encoded.classified);
    std::ranges::copy(encoded.sources, sources.begin());
  }
  const std::vector<TokenIds> targets = random_rows(config.decoder, random);
  std::vector<Session::TargetTokens> inputs;
  for (std::size_t i = 0; i < targets.size(); ++i)
    inputs.push_back({session.open_target(sources[i]), targets[i], Session::TargetTokens::kAll});
  return copy_of(session.decode(inputs));
}

double divergence(const Tensor& reference, const Tensor& other, const TransformerConfig& config) {
  const auto distance = gives_logits(config) ? kullback_leibler : one_minus_cosine;
  double total = 0.0;
  for (std::int64_t row = 0; row < reference.rows(); ++row) {
    total += distance(reference.row(row), other.row(row), reference.width());
  }
  return reference.rows() == 0 ? 0.0 : total / static_cast<double>(reference.rows());
}

std::shared_ptr<const Transformer> fastest_network(
    BackendChoice backend, const std::function<std::shared_ptr<const Transformer>(Precision)>& build) {
  std::vector<Precision> candidates = {Precision::int8};
  if (backend::multiplies_in(backend, Precision::bfloat16)) candidates.push_back(Precision::bfloat16);
  std::shared_ptr<const Transformer> network = build(Precision::float32);
  const Tensor expected = probe(network);
  const TransformerConfig config = network->config;
  for (const Precision precision : candidates) {
    network.reset();  // free memory first: two networks might not fit
    network = build(precision);
    if (divergence(expected, probe(network), config) <= kNegligibleDivergence) return network;
  }
  network.reset();
  return build(Precision::float32);
}

}  // namespace encdec

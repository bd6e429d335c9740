#include "encdec/models/session/attention_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

using Of = AttentionChoice::Of;

constexpr std::int64_t kMaxAttentionBytes = std::int64_t{1} << 31;  // maximum bytes of all maps together

bool has(const TransformerConfig& config, AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self: return config.has_encoder();
    case AttentionKind::decoder_self: return config.has_decoder() && !config.decoder.is_recurrent;
    case AttentionKind::cross: return config.has_encoder() && config.has_decoder();
  }
  return false;
}

// Returns the selected kinds or, if the selection is empty, all kinds that the model has. Throws ConfigError if the
// model lacks a selected kind.
std::vector<AttentionKind> chosen_kinds(const TransformerConfig& config, const AttentionSelection& selection) {
  std::vector<AttentionKind> kinds = selection.kinds;
  if (kinds.empty()) std::ranges::transform(kAttentionKinds, std::back_inserter(kinds), &AttentionNames::kind);
  for (const AttentionKind kind : selection.kinds) {
    if (!has(config, kind)) {
      throw ConfigError(fmt::format("{} was requested, but {} has none", to_string(kind), config.model_type));
    }
  }
  std::erase_if(kinds, [&](AttentionKind kind) { return !has(config, kind); });
  return kinds;
}

// The chosen layers or heads, and their indices in a map.
struct ChosenNumbers {
  // `what` is "layer" or "head", for error messages.
  ChosenNumbers(AttentionKind kind, std::string_view what, const AttentionChoice& choice, int count_) : count(count_) {
    if (choice.of == Of::one) {
      first = choice.number_of(count);
      if (first < 0 || first >= count) {
        throw ConfigError(fmt::format("{}: {} {}, expected 0 to {}, or -{} to -1", to_string(kind), what, choice.number,
                                      count - 1, count));
      }
      count = 1;
    }
    is_mean = choice.of == Of::mean;
  }
  bool contains(int number) const { return number >= first && number < first + count; }
  Dim index(int number) const { return is_mean ? 0 : number - first; }
  Dim size() const { return is_mean ? std::min(count, 1) : count; }
  float share() const { return is_mean ? 1.0f / static_cast<float>(count) : 1.0f; }

  int first = 0;
  int count;
  bool is_mean = false;
};

const StackConfig& stack_of(const TransformerConfig& config, AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? config.encoder : config.decoder;
}

// Fills maps while a session runs. The destructor resets the session.
class Recording {
 public:
  explicit Recording(Session& session) : session_(session) {}
  ~Recording() { session_.reset(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Registers observers that, in later runs, add the attention weights of the chosen layers and heads to `map`. For a
  // mean, the weights are multiplied by the share of one layer or head.
  void fill(AttentionMap& map, const ChosenNumbers& layers, const ChosenNumbers& heads) {
    for (int layer = layers.first; layer < layers.first + layers.count; ++layer) {
      observations_.push_back(
          session_.observe_attention(map.kind, layer, [&map, layers, heads, layer](const AttentionWeights& attention) {
            if (!heads.contains(attention.head)) return;
            const float share = layers.share() * heads.share();
            const Shape& shape = map.weights.shape();
            const Dim head = layers.index(layer) * shape[1] + heads.index(attention.head);
            float* row = map.weights.row(head * shape[2] + attention.row) + attention.first_key;
            for (std::size_t i = 0; i < attention.weights.size(); ++i) row[i] += share * attention.weights[i];
          }));
    }
  }

 private:
  Session& session_;
  std::vector<Session::Observation> observations_;
};

}  // namespace

void check_selection(const TransformerConfig& config, const AttentionSelection& selection) {
  for (const AttentionKind kind : chosen_kinds(config, selection)) {
    ChosenNumbers(kind, "layer", selection.layers, stack_of(config, kind).layers);
    ChosenNumbers(kind, "head", selection.heads, stack_of(config, kind).attention.heads);
  }
}

AttentionKind main_kind(const TransformerConfig& config) {
  if (!config.has_decoder()) return AttentionKind::encoder_self;
  return config.has_encoder() ? AttentionKind::cross : AttentionKind::decoder_self;
}

AttentionSelection alignment_selection(const TransformerConfig& config) {
  using Of = AttentionChoice::Of;
  const auto& head = config.alignment_head;
  return {.kinds = {main_kind(config)},
          .layers = {.of = Of::one, .number = -1},
          .heads = head ? AttentionChoice{.of = Of::one, .number = *head} : AttentionChoice{.of = Of::mean}};
}

AttentionMaps attention_tokens(const TokenIds& source, const TokenIds& prompt, std::span<const std::int32_t> target) {
  AttentionMaps tokens{.source = source, .decoder_input = prompt};
  if (!target.empty()) tokens.decoder_input.insert(tokens.decoder_input.end(), target.begin(), target.end() - 1);
  if (!prompt.empty()) tokens.target.assign(tokens.decoder_input.begin() + 1, tokens.decoder_input.end());
  if (!target.empty()) tokens.target.push_back(target.back());
  return tokens;
}

void read_attention(Session& session, const AttentionSelection& selection, AttentionMaps& attention) {
  const TransformerConfig& config = session.model().config;
  session.reset();
  Recording recording(session);
  const std::vector<AttentionKind> kinds = chosen_kinds(config, selection);
  const auto sources = static_cast<Dim>(attention.source.size()),
             targets = static_cast<Dim>(attention.decoder_input.size());
  // Allocate the maps and register their observers.
  std::int64_t bytes = 0;
  attention.maps.clear();
  attention.maps.reserve(kinds.size());  // observers refer to the maps by address
  for (const AttentionKind kind : kinds) {
    const StackConfig& stack = stack_of(config, kind);
    const ChosenNumbers layers(kind, "layer", selection.layers, stack.layers);
    const ChosenNumbers heads(kind, "head", selection.heads, stack.attention.heads);
    const Dim queries = kind == AttentionKind::encoder_self ? sources : targets;
    const Dim keys = kind == AttentionKind::decoder_self ? targets : sources;
    const Shape shape{layers.size(), heads.size(), queries, keys};
    bytes += shape.elements() * static_cast<std::int64_t>(sizeof(float));
    if (bytes > kMaxAttentionBytes) {
      throw InputError(
          fmt::format("attention maps of {} source and {} target tokens take {} bytes or more, expected at "
                      "most {}: choose a kind, a layer or a head",
                      sources, targets, bytes, kMaxAttentionBytes));
    }
    attention.maps.push_back({kind, Tensor::allocate(shape)});
    recording.fill(attention.maps.back(), layers, heads);
  }

  // Run the encoder on the source, and the decoder on the target.
  int opened = Session::kNoSource;
  if (sources > 0) {
    const Session::Encoded encoded = session.encode(std::span(&attention.source, 1));
    if (config.has_decoder()) opened = encoded.sources.front();
  }
  if (targets > 0) {
    const Session::TargetTokens input{session.open_target(opened), attention.decoder_input};
    session.decode(std::span(&input, 1));
  }
}

}  // namespace encdec

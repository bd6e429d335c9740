#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/model/model_impl.h"
#include "encdec/models/session/token_rows.h"

namespace encdec {
namespace {

// Copies packed rows [sum of lengths, W] into `padded` [B, L, W]. REQUIRES: `padded` is zero.
void unpack(const Tensor& packed, std::span<const Dim> lengths, Tensor& padded) {
  const Dim width = packed.width(), length = padded.shape()[1];
  Dim first = 0;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    std::copy_n(packed.row(first), lengths[b] * width, padded.row(static_cast<Dim>(b) * length));
    first += lengths[b];
  }
}

std::vector<Dim> lengths_of(std::span<const TokenIds> rows) {
  std::vector<Dim> lengths;
  for (const TokenIds& row : rows) lengths.push_back(static_cast<Dim>(row.size()));
  return lengths;
}

// Returns a classifier's logits: [B, labels], or [B, S, labels] if the classifier labels tokens.
Tensor classify(Session& session, const Session::Encoded& encoded, std::span<const Dim> rows) {
  const Tensor packed = session.classify(encoded);
  const auto sources = static_cast<Dim>(rows.size());
  const bool of_tokens = session.model().config.head.kind == HeadKind::tokens;
  Tensor logits = Tensor::allocate(of_tokens ? Shape{sources, std::ranges::max(rows), packed.width()} : packed.shape());
  if (of_tokens) {
    unpack(packed, rows, logits);
  } else {
    std::copy_n(packed.data<float>(), packed.elements(), logits.data<float>());
  }
  return logits;
}

// Runs the encoder and the decoder, if the model has them. `rows`: number of encoder rows of each source.
template <class Source>
ForwardResult run_forward(Session& session, std::span<const Source> sources, std::span<const Dim> rows,
                          std::span<const TokenIds> targets) {
  const TransformerConfig& config = session.model().config;
  ForwardResult result;
  std::span<const int> opened;
  // Encode the sources and, in a classifier, compute the labels' logits.
  if (config.has_encoder()) {
    const Dim most = rows.empty() ? 0 : std::ranges::max(rows);
    result.encoder_last_hidden_state =
        Tensor::allocate({static_cast<Dim>(sources.size()), most, config.encoder.model_dim});
    if (!sources.empty()) {
      const Session::Encoded encoded = session.encode(sources);
      unpack(encoded.hidden, rows, result.encoder_last_hidden_state);
      opened = encoded.sources;
      if (session.model().head && config.head.classifies()) result.logits = classify(session, encoded, rows);
    }
  }
  // Decode all targets in one step.
  if (config.has_decoder()) {
    const std::vector<Dim> lengths = lengths_of(targets);
    const Dim most = lengths.empty() ? 0 : std::ranges::max(lengths);
    result.logits = Tensor::allocate({static_cast<Dim>(targets.size()), most, config.decoder.vocabulary});
    std::vector<Session::TargetTokens> inputs;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const int source = config.has_encoder() ? opened[i] : Session::kNoSource;
      inputs.push_back({session.open_target(source), targets[i], Session::TargetTokens::kAll});
    }
    if (!targets.empty()) unpack(session.decode(inputs), lengths, result.logits);
  }
  return result;
}

// Throws InputError if an encoder-decoder does not get exactly one target per source.
void check_as_many(const TransformerConfig& config, std::size_t sources, std::size_t targets) {
  if (!config.has_encoder() || !config.has_decoder() || sources == targets) return;
  throw InputError(fmt::format("{} sources but {} targets; expected one target per source", sources, targets));
}

}  // namespace

ForwardResult Model::forward(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                             const ForwardOptions& options) const {
  const TransformerConfig& config = impl_->config;
  expect_text_model(impl_->parts());
  check_as_many(config, sources.size(), targets.size());
  // Check sources against the encoder, and targets against the decoder. Without the stack, refuse all rows.
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
  for (std::size_t i = 0; i < sources.size(); ++i) check_end(sources[i], config.head, "source", i + 1);
  check(targets, config.has_decoder(), config.decoder, "target");
  SessionPool::Lease session(*impl_->sessions);
  session->set_observer(options.observer);
  return run_forward(*session, sources, lengths_of(sources), targets);
}

ForwardResult Model::forward(std::span<const Tensor> sources, std::span<const TokenIds> targets,
                             const ForwardOptions& options) const {
  const TransformerConfig& config = impl_->config;
  expect_speech_model(impl_->parts());
  check_as_many(config, sources.size(), targets.size());
  // Check the frames of each source, and compute the number of encoder rows.
  std::vector<Dim> rows;
  for (const Tensor& frames : sources) {
    check_frames(frames, config.encoder, "source", rows.size() + 1);
    rows.push_back(config.encoder.frames.rows_of(frames.rows()));
  }
  check_not_empty(targets, "target");
  check_rows(targets, config.decoder, "target");
  SessionPool::Lease session(*impl_->sessions);
  session->set_observer(options.observer);
  return run_forward(*session, sources, rows, targets);
}

}  // namespace encdec

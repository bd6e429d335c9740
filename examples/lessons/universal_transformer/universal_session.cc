#include "universal_transformer/universal_session.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"

namespace lessons {

UniversalSession::UniversalSession(std::shared_ptr<const UniversalTransformer> model,
                                   const std::shared_ptr<ThreadTeam>& team)
    : model_(std::move(model)),
      source_embedding_(model_->source_embedding.graph(), team),
      encoder_(model_->encoder_block, model_->config.encoder, model_->config.first_step, team),
      key_value_state_(model_->source_key_values.graph(), team),
      target_embedding_(model_->target_embedding.graph(), team),
      decoder_(model_->decoder_block, model_->config.decoder, model_->config.first_step, team),
      output_(model_->output.graph(), team) {}

// Writes the tokens of a batch to ids_, one sequence after another, and the rows of each sequence
// to sequences_. Returns a view of ids_.
Tensor UniversalSession::pack(std::span<const TokenIds> tokens, std::string_view what) {
  if (tokens.empty()) throw InputError(fmt::format("no {}s, expected at least 1", what));
  sequences_.clear();
  ids_.clear();
  for (const TokenIds& ids : tokens) {
    if (ids.empty()) {
      throw InputError(
          fmt::format("{} {} of {}: no tokens, expected at least 1", what, sequences_.size() + 1, tokens.size()));
    }
    sequences_.push_back({.first_row = static_cast<int>(ids_.size()), .rows = static_cast<int>(ids.size())});
    ids_.insert(ids_.end(), ids.begin(), ids.end());
  }
  return {ids_.data(), DataType::int32, {static_cast<Dim>(ids_.size())}};
}

DepthRecurrence::Result UniversalSession::encode(std::span<const TokenIds> sources) {
  // Drop the previous batch.
  sources_.clear();
  slots_.clear();
  decoder_.close_all_slots();
  key_values_.remove_all();
  const Tensor ids = pack(sources, "source");
  // Embed the tokens and run the encoder's loop.
  const Tensor embedded = model_->source_embedding.run(std::span(&ids, 1), source_embedding_)[0];
  const auto encoded = encoder_.run(embedded, sequences_, nullptr, DepthRecurrence::End::all_halted);
  // Keep the keys and values for cross-attention, and open a target for each source.
  key_value_state_.sequences = sequences_;
  const auto key_values = model_->source_key_values.run(std::span(&encoded.hidden, 1), key_value_state_);
  for (const Sequence& sequence : sequences_) {
    sources_.push_back(key_values_.add(key_values, sequence.first_row, sequence.rows));
    slots_.push_back(decoder_.open_slot());
  }
  return encoded;
}

Tensor UniversalSession::decode(std::span<const TokenIds> tokens) {
  return run_decoder(tokens, DepthRecurrence::End::all_steps);
}

Tensor UniversalSession::forward(std::span<const TokenIds> sources, std::span<const TokenIds> targets) {
  encode(sources);
  const Tensor logits = run_decoder(targets, DepthRecurrence::End::all_halted);
  slots_.clear();
  decoder_.close_all_slots();
  return logits;
}

Tensor UniversalSession::run_decoder(std::span<const TokenIds> tokens, DepthRecurrence::End end) {
  if (tokens.size() != slots_.size()) {
    throw InputError(
        fmt::format("{} targets, expected {}, one for each source that encode() has read; forward() leaves none",
                    tokens.size(), slots_.size()));
  }
  const Tensor ids = pack(tokens, "target");
  // Embed first, before any state changes: this throws for ids outside the vocabulary.
  const Tensor embedded = model_->target_embedding.run(std::span(&ids, 1), target_embedding_)[0];
  // Connect each target with its slot in the caches and its source's rows.
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    const SourceKeyValues::Rows rows = key_values_.rows(sources_[i]);
    Sequence& sequence = sequences_[i];
    sequence.slot = slots_[i];
    sequence.past = decoder_.length(slots_[i]);
    sequence.first_source_row = rows.first;
    sequence.source_rows = rows.count;
    decoder_.append(slots_[i], sequence.rows);
  }
  decoded_ = decoder_.run(embedded, sequences_, &key_values_.tensors()[0], end);
  return model_->output.run(std::span(&decoded_.hidden, 1), output_)[0];
}

}  // namespace lessons

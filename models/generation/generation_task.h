#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "encdec/models/generation/decode_feed.h"
#include "encdec/models/network/vocabulary_shortlist.h"

namespace encdec {

// What a call asks of each of its sources: makes jobs of them, and results of what their searches find. May be used by
// many threads at once.
class GenerationTask {
 public:
  // Throws ConfigError for options that are out of range or not supported by the model. What the model is of must
  // outlive it.
  GenerationTask(const ModelParts& parts, const GenerateOptions& options);

  // With all that the call leaves to the checkpoint.
  const GenerateOptions& settings() const { return rules_->settings; }
  const SearchRules& rules() const { return *rules_; }  // the same, for searches
  // Null if all tokens may be produced.
  const VocabularyShortlist* shortlist() const { return shortlist_ ? &*shortlist_ : nullptr; }

  // One with an empty prompt has an empty_result(). Throws as Prompter::prompt().
  DecodeJob job(const GenerateInput& input, std::size_t index) const;
  static GenerateResult empty_result() { return {.hypotheses = {Hypothesis{}}}; }
  // Completes what a search gives, which begins behind the prompt; but for attention maps.
  GenerateResult result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) const;
  // Those, if they are asked for.
  void add_attention(GenerateResult& result) const;

 private:
  FinishReason reason_for(const DecodeJob& job, const TokenIds& generated) const;

  ModelParts parts_;
  std::shared_ptr<const SearchRules> rules_;
  Prompter prompter_;
  std::optional<VocabularyShortlist> shortlist_;
};

}  // namespace encdec

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "encdec/models/generation/source_feed.h"

namespace encdec {

// One worker: decodes what a feed gives, many sources at once. A source that is finished leaves the batch at once, and
// waiting ones take its place; their rows are packed, so lengths need not agree.
class BatchDecoder {
 public:
  struct Callbacks {
    // Token by token as they become certain; none if empty.
    std::function<void(std::size_t source, std::span<const std::int32_t> tokens)> on_tokens;
    std::function<void(const DecodeJob& job, std::vector<GeneratedSequence> results)> on_result;
    // After each step.
    std::function<void(const BatchDecoder& decoder)> on_step;
  };

  // Session and rules must outlive it. The session is reset.
  BatchDecoder(Session& session, const SearchRules& rules, const BatchLimits& limits, Callbacks callbacks);

  // Until the feed has no more, or has stopped.
  void run(SourceFeed& feed);

  // So far, of sources that are encoded, and of results that are finished or on their way.
  std::size_t source_tokens() const { return source_tokens_; }
  std::size_t generated_tokens() const { return finished_tokens_ + running_tokens_; }

 private:
  struct Running {
    DecodeJob job;
    int source = Session::kNoSource;
    std::unique_ptr<Search> search;
    std::size_t told = 0;  // tokens
  };

  void refill(SourceFeed& feed);
  void start(std::vector<DecodeJob> jobs);
  void start_together(std::span<DecodeJob> jobs);
  void step();
  void tell_tokens(Running& running, std::span<const std::int32_t> certain);
  void finish(Running& running);

  Session& session_;
  const SearchRules& rules_;
  BatchLimits limits_;
  Callbacks callbacks_;
  std::vector<Running> running_;
  std::vector<DecodeJob> jobs_;
  std::size_t running_bytes_ = 0;
  std::vector<Session::TargetTokens> inputs_;
  std::vector<std::pair<Search*, std::size_t>> rows_;  // of a step: whose, and which of its own
  std::vector<RuleMemory> rule_memory_;                // by thread
  std::size_t source_tokens_ = 0;
  std::size_t finished_tokens_ = 0;
  std::size_t running_tokens_ = 0;
};

}  // namespace encdec

#pragma once

#include "encdec/models/generation/random_key.h"
#include "encdec/models/generation/search.h"

namespace encdec {

// Greedy search: at each step the token with the largest score, the smaller id of equals. Or sampling: a token drawn
// with the probabilities that the scores give, for num_return_sequences sequences that are independent of each other;
// what is drawn depends on the seed, the prompt, and the sequence's number.
class SequenceSearch final : public Search {
 public:
  // The rules must outlive it.
  SequenceSearch(const SearchRules& rules, const Prompt& prompt, int source, Session& session);

  void add_inputs(std::vector<Session::TargetTokens>& inputs) const override;
  void read(std::size_t row, const StepOutput& output) override;
  State advance(Session& session) override;
  std::vector<GeneratedSequence> take_results() override;
  std::span<const std::int32_t> certain_tokens() const override { return generated(targets_.front()); }
  std::size_t length() const override { return generated(targets_.front()).size(); }

 private:
  struct Target {
    int number = -1;  // in the session
    TokenIds history;
    GeneratedSequence result;
  };

  std::span<const std::int32_t> generated(const Target& target) const {
    return std::span(target.history).subspan(prompt_length_);
  }
  void choose_next(std::size_t number, const StepScores& scores);

  const SearchRules& rules_;
  TokenIds source_;
  std::size_t prompt_length_;
  std::size_t limit_;
  RandomKey random_;
  std::vector<Target> targets_;
  std::vector<std::size_t> running_;  // by row; at the first step one row serves all
  bool is_first_step_ = true;
  std::vector<StepScores> scores_;  // by row
};

}  // namespace encdec

#pragma once

#include "encdec/models/generation/lexical_constraints.h"
#include "encdec/models/generation/random_key.h"
#include "encdec/models/generation/search.h"

namespace encdec {

// Beam search, step by step what transformers 5 does: of all continuations of num_beams beams the best K are kept, with
// K = num_beams * max(2, 1 + number of end tokens); those that end are finished hypotheses if they are among the best
// num_beams, the best others go on. With sampling, the K are drawn without replacement (Kool et al. 2019).
// Where phrases must appear, beams are shared among those that have more and less of them (Post & Vilar 2018), and only
// what has them all is finished, unless the length limit leaves no room for them.
class BeamSearch final : public Search {
 public:
  // The rules must outlive it.
  BeamSearch(const SearchRules& rules, const Prompt& prompt, int source, Session& session);

  void add_inputs(std::vector<Session::TargetTokens>& inputs) const override;
  void read(std::size_t row, const StepOutput& output) override;
  State advance(Session& session) override;
  std::vector<GeneratedSequence> take_results() override;
  std::span<const std::int32_t> certain_tokens() const override;
  std::size_t length() const override { return length_; }

 private:
  struct Beam {
    TokenIds history;  // with the prompt
    float score = 0;   // sum of log-probabilities as the rules left them
    std::vector<float> token_scores;
    std::vector<std::vector<TokenScore>> top_log_probs;
    std::vector<float> coverage;  // attention that each source token has got, if it is penalised
    ConstraintProgress constraints;
  };
  struct Finished {
    Beam beam;
    float score = 0;
  };
  // A token after a beam.
  struct Candidate {
    float score = 0;  // of the sequence
    float rank = 0;   // by which candidates are chosen: the score, or what was drawn
    std::size_t beam = 0;
    std::int32_t token = 0;
    float log_probability = 0;  // the model's own

    // Whether it is chosen first.
    bool goes_before(const Candidate& other) const {
      if (rank != other.rank) return rank > other.rank;
      return beam != other.beam ? beam < other.beam : token < other.token;
    }
  };
  // What the logits of one row give.
  struct Row {
    StepScores scores;
    std::vector<std::int32_t> tokens;  // those that may be candidates
    std::vector<std::int32_t> needed;  // those that the beam's phrases need
    std::vector<float> perturbed;      // the scores' ranking with noise, for sampling
    std::span<const float> source_attention;
  };

  std::span<const std::int32_t> generated(const Beam& beam) const {
    return std::span(beam.history).subspan(prompt_length_);
  }
  const Row& row_of(std::size_t beam) const { return rows_[length_ == 0 ? 0 : beam]; }
  bool hits(const Candidate& candidate) const { return rules_.is_end(candidate.token) || length_ + 1 >= limit_; }
  void sample(Row& row, std::size_t number) const;
  void add_constrained_tokens(Row& row, const Beam& beam) const;
  void collect_candidates();
  void choose_constrained_candidates();
  // Makes `beam` that of a candidate; in its memory, if it has any.
  void extend(const Candidate& candidate, Beam& beam) const;
  float final_score(float sum, std::size_t length) const;
  float coverage_score(const Beam& beam) const;
  void finish(const Candidate& candidate);
  bool improvement_is_possible() const;
  State end(Session& session);

  const SearchRules& rules_;
  TokenIds source_;
  std::size_t prompt_length_;
  std::size_t limit_;
  std::size_t num_beams_;
  std::size_t candidate_count_;
  RandomKey random_;
  std::size_t length_ = 0;    // tokens generated
  std::vector<int> targets_;  // by beam
  std::vector<Beam> beams_;   // best first
  std::vector<Beam> next_beams_;
  std::vector<Row> rows_;  // by beam; at the first step one row serves all
  std::vector<Candidate> candidates_;
  std::vector<Finished> finished_;  // best first, at most num_beams
  std::vector<int> parents_;
  // Room for choose_constrained_candidates().
  ConstraintProgress progress_;
  std::vector<Candidate> ending_, going_on_;
  std::vector<DegreeMember> degrees_;  // of those that go on
};

}  // namespace encdec

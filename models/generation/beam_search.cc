#include <algorithm>
#include <cmath>

#include "encdec/engine/kernels/logits.h"
#include "encdec/models/generation/lexical_constraints.h"
#include "encdec/models/generation/search.h"

namespace encdec {
namespace {

// Score of a beam that must not win, and the score to beat while fewer than num_beams hypotheses
// are finished. The value is the same in transformers.
constexpr float kImpossible = -1e9f;

// Beam search with the steps of transformers 5:
// 1. Extend each of the num_beams beams by one token in all possible ways. Keep the K best results as candidates, where
//    K := num_beams * max(2, 1 + number of end tokens). When sampling, draw K candidates without replacement instead
//    (Kool et al. 2019).
// 2. Of the best num_beams candidates, add those that end to the finished hypotheses.
// 3. Of the candidates that do not end, make the best num_beams the next beams.
// With force_words, candidates are grouped by the number of phrase tokens that they contain, and
// each group gets a share of the beams (Post & Vilar 2018). Only hypotheses with all phrases are
// finished, unless the length limit is too short for the phrases.
class BeamSearch final : public Search {
 public:
  BeamSearch(const SearchRules& rules, const Prompt& prompt, int source, Session& session)
      : Search(rules, prompt, session),
        num_beams_(static_cast<std::size_t>(*rules.settings.num_beams)),
        candidate_count_(num_beams_ * std::max<std::size_t>(2, 1 + rules.settings.eos_tokens->size())),
        targets_{session.open_target(source)},
        beams_(num_beams_),
        rows_(num_beams_) {
    // All beams start with the same tokens. Let only the first win the first step: otherwise all would stay the same.
    for (Beam& beam : beams_) {
      beam.history = prompt.target;
      beam.score = kImpossible;
      beam.constraints = ConstraintProgress(*rules.settings.force_words);
    }
    beams_.front().score = 0;
  }

  void add_inputs(std::vector<Session::TargetTokens>& inputs) override {
    if (length_ == 0) {
      inputs.push_back({targets_.front(), beams_.front().history});
      return;
    }
    for (std::size_t i = 0; i < beams_.size(); ++i) {
      inputs.push_back({targets_[i], std::span(beams_[i].history).last(1)});
    }
  }

  void read(std::size_t row_number, const StepOutput& output) override {
    Row& row = rows_[row_number];
    const Beam& beam = beams_[row_number];
    row.scores.read(rules_, history_of(beam.history), output, StepScores::Scale::log_probabilities);
    row.source_attention = output.source_attention;
    if (*rules_.settings.do_sample) {
      sample(row, row_number);
    } else {
      kernels::top_k(row.scores.ranking(), static_cast<int>(candidate_count_), row.tokens);
      add_constrained_tokens(row, beam);
    }
  }

  State advance(Session& session) override {
    // Finish each candidate that ends and is among the best num_beams.
    collect_candidates();
    for (std::size_t i = 0; i < std::min(num_beams_, candidates_.size()); ++i) {
      if (ends_sequence(candidates_[i])) finish(candidates_[i]);
    }
    if (finished_.size() > num_beams_) finished_.resize(num_beams_);
    std::erase_if(candidates_, [this](const Candidate& candidate) { return ends_sequence(candidate); });
    if (candidates_.empty()) return end(session);

    // Sampled candidates are sorted by score plus noise. Sort them by score, and equal scores by score plus noise.
    if (*rules_.settings.do_sample) {
      std::ranges::sort(candidates_, [](const Candidate& a, const Candidate& b) {
        return a.score != b.score ? a.score > b.score : a.goes_before(b);
      });
    }
    // Make the next beams. Each beam continues from the cached keys and values of its parent beam.
    candidates_.resize(std::min(num_beams_, candidates_.size()));
    next_beams_.resize(candidates_.size());
    parents_.clear();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& candidate = candidates_[i];
      extend(candidate, next_beams_[i]);
      parents_.push_back(length_ == 0 ? targets_.front() : targets_[candidate.beam]);
    }
    while (targets_.size() < num_beams_) targets_.push_back(session.fork_target(targets_.front()));
    session.reorder_targets(std::span(targets_).first(parents_.size()), parents_);
    beams_.swap(next_beams_);
    ++length_;
    const bool is_full = *rules_.settings.early_stopping == EarlyStopping::when_full && finished_.size() == num_beams_;
    return is_full || !improvement_is_possible() ? end(session) : State::running;
  }

  void abandon(Session& session) override {
    for (const int target : targets_) session.close_target(target);
  }

  std::vector<Hypothesis> take_results() override {
    std::vector<Hypothesis> results;
    for (Beam& beam : finished_) {
      if (results.size() == static_cast<std::size_t>(*rules_.settings.num_return_sequences)) break;
      const auto tokens = generated(beam.history);
      results.push_back({.token_ids = TokenIds(tokens.begin(), tokens.end()),
                         .score = beam.score,
                         .token_scores = std::move(beam.token_scores),
                         .top_log_probs = std::move(beam.top_log_probs)});
    }
    return results;
  }

  ScoredTokens final_tokens() const override {
    // Tokens are final if the best finished hypothesis and all beams begin with them.
    const Beam& best = (finished_.empty() ? beams_ : finished_).front();
    std::span<const std::int32_t> common = generated(best.history);
    for (const Beam& beam : beams_) {
      if (beam.score <= kImpossible / 2) continue;
      const auto tokens = generated(beam.history);
      common = common.first(static_cast<std::size_t>(std::ranges::mismatch(common, tokens).in1 - common.begin()));
    }
    return {common, std::span(best.token_scores).first(common.size())};
  }
  std::size_t length() const override { return length_; }

 private:
  struct Beam {
    TokenIds history;  // prompt and generated tokens
    float score = 0;   // sum of log-probabilities after processors; final score once finished
    std::vector<float> token_scores;
    std::vector<std::vector<TokenScore>> top_log_probs;
    std::vector<float> coverage;  // total attention to each source token; empty without coverage_penalty
    ConstraintProgress constraints;
  };
  // A continuation of a beam by one token.
  struct Candidate {
    float score = 0;  // the beam's score with this token
    float rank = 0;   // score, plus noise when sampling
    std::size_t beam = 0;
    std::int32_t token = 0;
    float log_probability = 0;  // log-probability of the token before logits processors

    // Returns whether this candidate ranks before `other`. In a tie, the better beam is first, then the smaller token.
    bool goes_before(const Candidate& other) const {
      if (rank != other.rank) return rank > other.rank;
      return beam != other.beam ? beam < other.beam : token < other.token;
    }
  };
  // Results of read() for one row.
  struct Row {
    StepScores scores;
    std::vector<std::int32_t> tokens;  // tokens of the row's candidates: the best or the drawn tokens
    std::vector<std::int32_t> needed;  // tokens that continue or start a phrase that the beam lacks
    std::vector<float> perturbed;      // scores.ranking() plus noise, for sampling
    std::span<const float> source_attention;
  };

  // Returns the row from which a beam continues. In the first step, all beams share one row.
  const Row& row_of(std::size_t beam) const { return rows_[length_ == 0 ? 0 : beam]; }
  bool ends_sequence(const Candidate& candidate) const {
    return rules_.is_end(candidate.token) || length_ + 1 >= limit_;
  }

  // Draws tokens without replacement by the Gumbel-top-k trick (Kool et al. 2019): adds Gumbel
  // noise, -log(-log(u)), to each score and takes the tokens with the largest sums.
  void sample(Row& row, std::size_t number) const {
    const std::span scores = row.scores.ranking();
    const RandomKey random = random_.with(length_).with(number);
    row.perturbed.assign(scores.begin(), scores.end());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] != kBanned) row.perturbed[i] += static_cast<float>(-std::log(-std::log(random.with(i).uniform())));
    }
    kernels::top_k(row.perturbed, static_cast<int>(candidate_count_), row.tokens);
  }

  // Adds to row.tokens the next token of each phrase that the beam lacks, unless that token is banned.
  void add_constrained_tokens(Row& row, const Beam& beam) const {
    row.needed.clear();
    beam.constraints.next_tokens(row.needed);
    for (const std::int32_t token : row.needed) {
      const bool is_banned = row.scores.ranking()[static_cast<std::size_t>(token)] == kBanned;
      if (!is_banned && std::ranges::find(row.tokens, token) == row.tokens.end()) row.tokens.push_back(token);
    }
  }

  // Fills candidates_ with the best candidate_count_ continuations of all beams, best first.
  void collect_candidates() {
    candidates_.clear();
    for (std::size_t b = 0; b < beams_.size(); ++b) {
      const Row& row = row_of(b);
      for (const std::int32_t token : row.tokens) {
        const auto index = static_cast<std::size_t>(token);
        const float score = beams_[b].score + row.scores.score(token);
        const float noise = *rules_.settings.do_sample ? row.perturbed[index] - row.scores.ranking()[index] : 0.0f;
        candidates_.push_back({.score = score,
                               .rank = score + noise,
                               .beam = b,
                               .token = token,
                               .log_probability = row.scores.log_probability(token)});
      }
    }
    // Keep the best candidates. With phrases, share them among the numbers of phrase tokens.
    const auto is_better = [](const Candidate& a, const Candidate& b) { return a.goes_before(b); };
    if (!rules_.settings.force_words->empty()) {
      std::ranges::sort(candidates_, is_better);
      return choose_constrained_candidates();
    }
    const auto kept = candidates_.begin() + static_cast<std::ptrdiff_t>(std::min(candidate_count_, candidates_.size()));
    std::partial_sort(candidates_.begin(), kept, candidates_.end(), is_better);
    candidates_.erase(kept, candidates_.end());
  }

  // Drops candidates that cannot contain all phrases within the length limit. Among the other candidates, keeps the
  // best num_beams that end, and num_beams that do not end. share_among_degrees() chooses the candidates that do not
  // end, so that each number of phrase tokens gets its share of the beams.
  void choose_constrained_candidates() {
    const std::size_t tokens_left = limit_ - length_ - 1;  // maximum number of tokens after a candidate
    ending_.clear();
    going_on_.clear();
    degrees_.clear();
    for (const Candidate& candidate : candidates_) {
      progress_ = beams_[candidate.beam].constraints;
      progress_.advance(candidate.token);
      if (progress_.tokens_missing() > (rules_.is_end(candidate.token) ? 0 : tokens_left)) continue;
      if (!ends_sequence(candidate)) {
        degrees_.push_back({.tokens_met = progress_.tokens_met(), .index = going_on_.size()});
        going_on_.push_back(candidate);
      } else if (ending_.size() < num_beams_) {
        ending_.push_back(candidate);
      }
    }
    // If the length limit is too short for the phrases, search as if there were no phrases.
    if (ending_.empty() && going_on_.empty()) {
      candidates_.resize(std::min(candidates_.size(), candidate_count_));
      return;
    }
    candidates_.swap(ending_);
    share_among_degrees(degrees_, num_beams_);
    for (const DegreeMember& member : degrees_) candidates_.push_back(going_on_[member.index]);
  }

  // Sets `beam` to the candidate's beam plus the candidate's token. Reuses the buffers of `beam`.
  void extend(const Candidate& candidate, Beam& beam) const {
    beam = beams_[candidate.beam];
    beam.history.push_back(candidate.token);
    beam.score = candidate.score;
    beam.token_scores.push_back(candidate.log_probability);
    const Row& row = row_of(candidate.beam);
    if (rules_.settings.top_log_probs > 0) beam.top_log_probs.push_back(row.scores.top());
    beam.coverage.resize(row.source_attention.size());
    for (std::size_t i = 0; i < beam.coverage.size(); ++i) beam.coverage[i] += row.source_attention[i];
    beam.constraints.advance(candidate.token);
  }

  float final_score(float sum, std::size_t length) const {
    return sum / static_cast<float>(
                     std::pow(static_cast<double>(length), static_cast<double>(*rules_.settings.length_penalty)));
  }

  // Returns the penalty of Wu et al. 2016, equation 14. Like CTranslate2, skips source tokens without attention.
  float coverage_score(const Beam& beam) const {
    float sum = 0.0f;
    for (const float attention : beam.coverage) {
      if (attention > 0) sum += std::log(std::min(attention, 1.0f));
    }
    return *rules_.settings.coverage_penalty * sum;
  }

  // Adds a finished candidate to finished_, which is sorted by descending score.
  void finish(const Candidate& candidate) {
    Beam finished;
    extend(candidate, finished);
    finished.score = final_score(candidate.score, length_ + 1) + coverage_score(finished);
    const auto position = std::ranges::upper_bound(finished_, finished.score, std::greater(), &Beam::score);
    finished_.insert(position, std::move(finished));
  }

  // Returns whether the best beam could still beat the worst finished hypothesis. Assumes that the best beam ends now.
  // If early_stopping is `never` and longer texts score higher, assumes that this beam ends at the length limit.
  bool improvement_is_possible() const {
    const GenerateOptions& settings = rules_.settings;
    const bool may_use_limit = *settings.early_stopping == EarlyStopping::never && *settings.length_penalty > 0;
    const float best = final_score(beams_.front().score, may_use_limit ? limit_ : length_);
    return best > (finished_.size() < num_beams_ ? kImpossible : finished_.back().score);
  }

  State end(Session& session) {
    // If nothing is finished because all continuations were banned, return the best beam.
    if (finished_.empty()) {
      finished_.push_back(beams_.front());
      finished_.front().score = final_score(beams_.front().score, std::max<std::size_t>(length_, 1));
    }
    abandon(session);
    return State::finished;
  }

  std::size_t num_beams_;
  std::size_t candidate_count_;
  std::size_t length_ = 0;    // number of tokens generated
  std::vector<int> targets_;  // by beam
  std::vector<Beam> beams_;   // best first
  std::vector<Beam> next_beams_;
  std::vector<Row> rows_;  // by beam; see row_of()
  std::vector<Candidate> candidates_;
  std::vector<Beam> finished_;  // best first, at most num_beams
  std::vector<int> parents_;
  // Scratch buffers of choose_constrained_candidates().
  ConstraintProgress progress_;
  std::vector<Candidate> ending_, going_on_;
  std::vector<DegreeMember> degrees_;  // by candidate in going_on_
};

}  // namespace

std::unique_ptr<Search> make_beam_search(const SearchRules& rules, const Prompt& prompt, int source, Session& session) {
  return std::make_unique<BeamSearch>(rules, prompt, source, session);
}

}  // namespace encdec

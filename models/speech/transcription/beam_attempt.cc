#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "encdec/engine/kernels/logits.h"
#include "encdec/models/speech/transcription/window_attempt.h"

namespace encdec {
namespace {

class BeamAttempt final : public WindowAttempt {
 public:
  BeamAttempt(const Settings& settings, int target) : WindowAttempt(settings, target) {
    const TranscribeOptions& options = settings.task.options();
    pool_ = static_cast<std::size_t>(std::max(std::lrint(options.beam_size * options.patience), 1L));
  }

 private:
  // The best next tokens, best first.
  void choose(std::size_t row, std::span<const float> logits, ProcessorScratch& scratch) override {
    const float normalizer = kernels::log_sum_exp(logits);
    kernels::top_k(logits, static_cast<int>(group_) + 1, scratch.tokens);
    choices_[row].clear();
    for (const std::int32_t token : scratch.tokens) {
      choices_[row].push_back(choice(token, logits, normalizer));
    }
  }

  struct Candidate {
    std::size_t parent;
    std::int32_t token;
    float sum;
  };

  // Goes through all continuations, best first. Those that end are finished; the first group_ others are the next
  // beams.
  bool extend(Session& session) override {
    rank_candidates();
    std::vector<WindowSequence> next;
    std::vector<int> parents;
    for (std::size_t i = 0; i < candidates_.size() && next.size() < group_; ++i) {
      const Candidate& candidate = candidates_[i];
      WindowSequence sequence = running_[candidate.parent];
      sequence.sum = candidate.sum;
      sequence.has_ended = is_end(candidate.token);
      if (!sequence.has_ended) {
        sequence.tokens.push_back(candidate.token);
        next.push_back(std::move(sequence));
        parents.push_back(targets_[candidate.parent]);
      } else if (finished_.size() < pool_) {
        finished_.push_back(std::move(sequence));
      }
    }
    while (targets_.size() < next.size()) targets_.push_back(session.fork_target(targets_.front()));
    session.reorder_targets(std::span(targets_).first(parents.size()), parents);
    for (; targets_.size() > next.size(); targets_.pop_back()) session.close_target(targets_.back());
    running_ = std::move(next);
    return finished_.size() >= pool_;
  }

  void rank_candidates() {
    candidates_.clear();
    for (std::size_t i = 0; i < running_.size(); ++i) {
      for (const Choice& choice : choices_[i]) {
        candidates_.push_back({i, choice.token, running_[i].sum + choice.log_probability});
      }
    }
    std::ranges::stable_sort(candidates_, std::greater(), &Candidate::sum);
  }

  std::size_t pool_ = 0;  // number of sequences to finish
  std::vector<Candidate> candidates_;
};

}  // namespace

std::unique_ptr<WindowAttempt> make_beam_attempt(const WindowAttempt::Settings& settings, int target) {
  return std::make_unique<BeamAttempt>(settings, target);
}

}  // namespace encdec

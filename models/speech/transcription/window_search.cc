#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "encdec/engine/kernels/logits.h"
#include "encdec/models/speech/transcript/compression_ratio.h"
#include "encdec/models/speech/transcription/alignment_reader.h"
#include "encdec/models/speech/transcription/transcription_task.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// The search for one window, as in openai/whisper (decoding.py, transcribe.py) or transformers (generation_whisper.py,
// generation/utils.py). It makes an attempt at each temperature in turn until the text passes the thresholds:
// - Temperature 0: greedy or beam search.
// - Above 0: best_of samples, of which the likeliest is kept.
// All attempts share a target that has read the prompt up to the start token.
class WindowSearch final : public Search {
 public:
  WindowSearch(const TranscriptionTask& task, const DecodeJob& job, const WindowPlace& place, std::int32_t language,
               int source, Session& session, std::shared_ptr<DecodedWindow> result)
      : Search(*job.rules, job.prompt, session),
        task_(task),
        prompt_(job.prompt.target),
        place_(place),
        language_(language),
        source_number_(source),
        result_(std::move(result)),
        prefix_target_(session.open_target(source)) {
    const auto start = std::ranges::find(prompt_, task.tokens().start);
    const auto after_start = static_cast<std::size_t>(start - prompt_.begin()) + 1;
    reads_prefix_ = after_start < prompt_.size();
    prefix_length_ = reads_prefix_ ? after_start : 0;
    max_new_tokens_ = task.max_new_tokens(prompt_.size());
    if (!reads_prefix_) begin_attempt(session);
  }

  void add_inputs(std::vector<Session::TargetTokens>& inputs) const override {
    if (reads_prefix_) {
      inputs.push_back({prefix_target_, std::span(prompt_).first(prefix_length_)});
    } else if (is_first_step_) {
      inputs.push_back({targets_.front(), std::span(prompt_).subspan(prefix_length_)});
    } else {
      for (std::size_t i = 0; i < running_.size(); ++i) {
        inputs.push_back({targets_[i], std::span(running_[i].tokens).last(1)});
      }
    }
  }

  void read(std::size_t row, const StepOutput& output) override {
    const std::span<float> logits = output.logits;
    const float normalizer = normalizer_of(logits);
    // The logits after the start token, before any token is banned, hold the no-speech probability.
    if (reads_prefix_ || (is_first_step_ && prefix_length_ == 0)) {
      const float silence = logits[static_cast<std::size_t>(task_.tokens().no_speech)];
      no_speech_ = std::exp(double{silence} - double{normalizer});
    }
    if (reads_prefix_) return;
    const TokenIds& sampled = running_[row].tokens;
    for (const std::int32_t token : task_.suppressed()) logits[static_cast<std::size_t>(token)] = kBanned;
    if (sampled.empty()) {
      for (const std::int32_t token : task_.suppressed_first()) logits[static_cast<std::size_t>(token)] = kBanned;
    }
    if (task_.options().timestamps) task_.timestamp_rules().apply(sampled, logits);
    choose(row, logits, is_openai() ? std::nullopt : std::optional(normalizer), output.scratch);
  }

  State advance(Session& session) override {
    if (reads_prefix_) {
      reads_prefix_ = false;
      begin_attempt(session);
      return State::running;
    }
    temperature() > 0 || task_.options().beam_size == 1 ? extend_samples(session) : extend_beams(session);
    is_first_step_ = false;
    ++length_;
    if (!is_attempt_over()) return State::running;
    end_attempt(session);
    if (attempt_ + 1 < task_.options().temperatures.size() && result_->needs_fallback(task_.options())) {
      ++attempt_;
      begin_attempt(session);
      return State::running;
    }
    session.close_target(prefix_target_);
    const bool wants_words = task_.options().word_timestamps && !result_->is_silence(task_.options());
    return wants_words ? State::completing : State::finished;
  }

  void complete(Session& session) override {
    if (!is_openai()) {
      result_->timings = read_token_times(session, source_number_, task_, place_, prompt_, *result_);
      return;
    }
    const CutWindow cut = cut_window(*result_, place_, task_.tokens(), task_.speech_rules());
    result_->words = read_word_times(session, source_number_, task_, language_, place_,
                                     text_tokens(cut.segments, task_.tokens().end_of_text));
  }

  void abandon(Session& session) override {
    for (const int target : targets_) session.close_target(target);
    session.close_target(prefix_target_);
  }

  std::vector<Hypothesis> take_results() override { return {Hypothesis{.token_ids = result_->tokens}}; }
  ScoredTokens final_tokens() const override { return {}; }
  std::size_t length() const override { return length_; }

 private:
  struct Sequence {
    TokenIds tokens;         // tokens after the prompt, without the end token
    float sum = 0;           // sum of Choice::log_probability, end token included
    float score = 0;         // sum of Choice::score, by which beams are ranked
    std::size_t number = 0;  // number of a sample
    bool has_ended = false;  // the model generated an end token
  };
  struct Choice {
    std::int32_t token = 0;
    float log_probability = 0;  // after tokens were banned, at temperature 1
    float score = 0;            // openai: log_probability; transformers: before tokens were banned
  };
  struct Candidate {
    std::size_t parent;
    std::int32_t token;
    float sum;
    float score;
  };

  double temperature() const { return task_.options().temperatures[attempt_]; }
  bool is_openai() const { return task_.speech_rules() == SpeechRules::openai; }
  bool is_end(std::int32_t token) const { return token == task_.tokens().end_of_text; }

  void begin_attempt(Session& session) {
    const TranscribeOptions& options = task_.options();
    group_ = static_cast<std::size_t>(temperature() > 0 ? options.best_of : options.beam_size);
    targets_ = {session.fork_target(prefix_target_)};
    running_ = {{}};
    finished_.clear();
    choices_.assign(group_, {});
    is_first_step_ = true;
    length_ = 0;
  }

  // Sets choices_[row]: for beams the best next tokens, best first; for samples one token for each sample of the row.
  // `whole` is the normalizer of the logits before tokens were banned, if scores need it.
  void choose(std::size_t row, std::span<const float> logits, std::optional<float> whole, ProcessorScratch& scratch) {
    const float normalizer = kernels::log_sum_exp(logits);
    const auto choice = [&](std::int32_t token) {
      token = std::max(token, 0);  // -1 if all tokens are banned
      const float logit = logits[static_cast<std::size_t>(token)];
      return Choice{token, logit - normalizer, logit - whole.value_or(normalizer)};
    };
    std::vector<Choice>& choices = choices_[row];
    choices.clear();
    if (temperature() > 0) {
      scratch.scores.assign(logits.begin(), logits.end());
      for (float& score : scratch.scores) score = static_cast<float>(score / temperature());
      const std::size_t samples = is_first_step_ ? group_ : 1;
      for (std::size_t i = 0; i < samples; ++i) {
        const std::size_t number = is_first_step_ ? i : running_[row].number;
        const RandomKey key = random_.with(place_.first).with(attempt_).with(number).with(length_);
        choices.push_back(choice(draw(scratch.scores, key.uniform())));
      }
    } else if (group_ == 1) {
      choices.push_back(choice(kernels::arg_max(logits)));
    } else {
      kernels::top_k(logits, static_cast<int>(is_openai() ? group_ + 1 : 2 * group_), scratch.tokens);
      for (const std::int32_t token : scratch.tokens) choices.push_back(choice(token));
    }
  }

  // Appends the chosen token to each sample, or to the one sequence of greedy search. Finishes those that end.
  void extend_samples(Session& session) {
    if (is_first_step_) {
      running_.assign(group_, running_.front());
      for (std::size_t i = 0; i < group_; ++i) running_[i].number = i;
      while (targets_.size() < group_) targets_.push_back(session.fork_target(targets_.front()));
    }
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const Choice& choice = is_first_step_ ? choices_.front()[i] : choices_[i].front();
      running_[i].sum += choice.log_probability;
      running_[i].score += choice.score;
      running_[i].tokens.push_back(choice.token);
    }
    for (std::size_t i = running_.size(); i-- > 0;) {
      const bool has_ended = running_[i].has_ended = is_end(running_[i].tokens.back());
      if (!has_ended && length_ + 1 < max_new_tokens_) continue;
      if (has_ended) running_[i].tokens.pop_back();
      finished_.push_back(std::move(running_[i]));
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      session.close_target(targets_[i]);
      targets_.erase(targets_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // Goes through all continuations, best first. Those that end are finished; the first group_ others are the next
  // beams.
  void extend_beams(Session& session) {
    candidates_.clear();
    for (std::size_t i = 0; i < running_.size(); ++i) {
      for (const Choice& choice : choices_[i]) {
        candidates_.push_back(
            {i, choice.token, running_[i].sum + choice.log_probability, running_[i].score + choice.score});
      }
    }
    std::ranges::stable_sort(candidates_, std::greater(), &Candidate::score);
    const double patience = task_.options().patience;
    const auto pool = static_cast<std::size_t>(std::max(std::lrint(static_cast<double>(group_) * patience), 1L));
    const bool is_last_step = !is_openai() && length_ + 1 >= max_new_tokens_;
    std::vector<Sequence> next;
    std::vector<int> parents;
    for (std::size_t i = 0; i < candidates_.size() && next.size() < group_; ++i) {
      const Candidate& candidate = candidates_[i];
      Sequence sequence = running_[candidate.parent];
      sequence.sum = candidate.sum;
      sequence.score = candidate.score;
      sequence.has_ended = is_end(candidate.token);
      if (!sequence.has_ended) sequence.tokens.push_back(candidate.token);
      if (!sequence.has_ended && !is_last_step) {
        next.push_back(std::move(sequence));
        parents.push_back(targets_[candidate.parent]);
      } else if (is_openai() ? finished_.size() < pool : i < group_) {
        finished_.push_back(std::move(sequence));
      }
    }
    while (targets_.size() < next.size()) targets_.push_back(session.fork_target(targets_.front()));
    session.reorder_targets(std::span(targets_).first(parents.size()), parents);
    for (; targets_.size() > next.size(); targets_.pop_back()) session.close_target(targets_.back());
    running_ = std::move(next);
    is_pool_full_ = is_openai() ? finished_.size() >= pool : !may_improve();
  }

  // Keeps the group_ best finished sequences. Returns true if there are fewer, or if the best running sequence is
  // better than the worst finished one. For the rules of transformers.
  bool may_improve() {
    std::ranges::stable_sort(finished_, std::greater(), [this](const Sequence& each) { return final_score(each); });
    if (finished_.size() < group_) return true;
    finished_.resize(group_);
    return !running_.empty() && final_score(running_.front()) > final_score(finished_.back());
  }

  // Returns a score that is comparable between lengths. By the rules of transformers the end token counts.
  double final_score(const Sequence& sequence) const {
    const auto length = static_cast<double>(sequence.tokens.size() + (!is_openai() && sequence.has_ended ? 1 : 0));
    const std::optional<double> penalty = task_.options().length_penalty;
    if (!is_openai()) return double{sequence.score} / std::pow(length, penalty.value_or(1));
    return double{sequence.sum} / (penalty ? std::pow((5 + length) / 6, *penalty) : length);
  }

  bool is_attempt_over() const { return running_.empty() || is_pool_full_ || length_ >= max_new_tokens_; }

  void end_attempt(Session& session) {
    // The best running beams fill up the finished ones. Of equal ones the last is taken, as in openai/whisper.
    std::ranges::stable_sort(running_, {}, &Sequence::sum);
    for (; !running_.empty() && finished_.size() < group_; running_.pop_back()) {
      finished_.push_back(std::move(running_.back()));
    }
    for (const int target : targets_) session.close_target(target);
    targets_.clear();
    running_.clear();
    is_pool_full_ = false;

    // Samples finish in any order. Of equal scores the first sample is taken.
    std::ranges::stable_sort(finished_, {}, &Sequence::number);
    const auto best =
        std::ranges::max_element(finished_, {}, [this](const Sequence& each) { return final_score(each); });
    *result_ = {.temperature = temperature(), .no_speech_prob = no_speech_};
    const std::size_t counted = best->tokens.size() + (is_openai() || best->has_ended ? 1 : 0);
    result_->avg_logprob = double{best->sum} / static_cast<double>(counted);
    result_->compression_ratio = compression_ratio(is_openai() ? text_of(best->tokens) : bytes_of(*best));
    result_->has_ended = best->has_ended;
    result_->tokens = std::move(best->tokens);
  }

  std::string text_of(const TokenIds& tokens) const { return std::string(strip(task_.tokens().text(tokens))); }

  // Returns the token ids as bytes, of which transformers computes the compression ratio.
  std::string bytes_of(const Sequence& sequence) const {
    const auto vocabulary = static_cast<std::uint32_t>(task_.network().config.decoder.vocabulary);
    const int width = (std::bit_width(vocabulary) - 1) / 8 + 1;
    std::string bytes;
    const auto add = [&](std::int32_t token) {
      for (int i = 0; i < width; ++i) bytes += static_cast<char>(token >> (8 * i));
    };
    std::ranges::for_each(sequence.tokens, add);
    if (sequence.has_ended) add(task_.tokens().end_of_text);
    return bytes;
  }

  const TranscriptionTask& task_;
  TokenIds prompt_;
  WindowPlace place_;
  std::int32_t language_;
  int source_number_;
  std::shared_ptr<DecodedWindow> result_;
  int prefix_target_;               // target that reads the first prefix_length_ tokens; attempts are forks of it
  std::size_t prefix_length_ = 0;   // prompt tokens up to the start token; 0 if no other token follows it
  bool reads_prefix_ = false;       // whether prefix_target_ reads these tokens in the current step
  std::size_t max_new_tokens_ = 0;  // maximum number of tokens to generate
  double no_speech_ = 0;
  std::size_t attempt_ = 0;    // index of the temperature
  std::size_t group_ = 1;      // number of beams or samples
  bool is_first_step_ = true;  // first step of an attempt, with one row for all sequences
  bool is_pool_full_ = false;  // no more finished beams are needed
  std::size_t length_ = 0;     // number of tokens of each running sequence
  std::vector<int> targets_;   // by running sequence
  std::vector<Sequence> running_, finished_;
  std::vector<std::vector<Choice>> choices_;  // by row
  std::vector<Candidate> candidates_;
};

}  // namespace

std::unique_ptr<Search> make_window_search(const TranscriptionTask& task, const DecodeJob& job,
                                           const WindowPlace& place, std::int32_t language, int source,
                                           Session& session, std::shared_ptr<DecodedWindow> result) {
  return std::make_unique<WindowSearch>(task, job, place, language, source, session, std::move(result));
}

}  // namespace encdec

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encdec/models/generation/draft.h"
#include "encdec/models/generation/lexical_shortlist.h"
#include "encdec/models/generation/logits_processor.h"
#include "encdec/models/generation/prompter.h"
#include "encdec/models/generation/random_key.h"
#include "encdec/models/session/session.h"

namespace encdec {

// Settings and logits processors shared by the searches of one call.
struct SearchRules {
  // REQUIRES: `settings_` is the result of with_neutral_values().
  explicit SearchRules(GenerateOptions settings_);

  // Returns the maximum number of tokens to generate after a prompt, within the decoder's positions.
  std::size_t new_token_limit(const Prompt& prompt, const StackConfig& decoder) const;
  // Returns the tokens that a source may generate, for the projection of `model`; null for all.
  std::shared_ptr<const VocabularyShortlist> shortlist_for(const TokenIds& source, const Transformer& model) const;
  bool is_end(std::int32_t token) const;
  // Returns the number of sequences (beams or samples) decoded in parallel for one source.
  std::size_t rows_per_source() const;
  bool needs_source_attention() const { return *settings.coverage_penalty != 0; }

  GenerateOptions settings;
  LogitsProcessors processors;                                // logits processors, then sampling processors if sampling
  bool always_changes_scores = false;                         // a sampling processor changes the scores of every step
  std::shared_ptr<const VocabularyShortlist> shortlist = {};  // shared by all sources; null for none
  std::shared_ptr<const LexicalShortlist> lexical_shortlist = {};  // makes a shortlist for each source; null for none
};

// Returns the tokens that settings need beside those of a shortlist: end tokens and forced tokens.
TokenIds required_tokens(const GenerateOptions& settings);

// The output of the decoder for one input row of a step.
struct StepOutput {
  std::span<float> logits;                  // the reader may overwrite them
  std::span<const float> source_attention;  // see Session; empty unless needs_source_attention()
  ProcessorScratch& scratch;                // scratch buffers of the calling thread
};

// Returns log(sum of exp(logit)). Throws BackendError if the result is NaN.
float normalizer_of(std::span<const float> logits);

// The scores of one row of logits, before and after the logits processors.
class StepScores {
 public:
  enum class Scale : std::uint8_t { logits, log_probabilities };

  // Applies the logits processors to output.logits in place, as logits or as log-probabilities. Throws BackendError if
  // the logits are NaN. REQUIRES: output.logits stay alive and unchanged while the accessors below are used.
  void read(const SearchRules& rules, const TokenHistory& history, const StepOutput& output, Scale scale);

  // Returns scores [V] after the processors, for comparing tokens: score() plus a constant.
  std::span<const float> ranking() const { return ranking_; }
  // Returns a token's log-probability after the processors.
  float score(std::int32_t token) const { return ranking_[static_cast<std::size_t>(token)] - offset_; }

  // Returns the model's log-probability of a token, before the processors. REQUIRES: `token` is not banned, or it
  // is 0: the token that is taken if all are banned.
  float log_probability(std::int32_t token) const;
  // Returns the `top_log_probs` likeliest tokens before the processors, best first.
  const std::vector<TokenScore>& top() const { return top_; }

 private:
  std::span<const float> ranking_;
  float offset_ = 0.0f;  // ranking()[token] - score(token)
  float normalizer_ = 0.0f;
  float first_logit_ = 0.0f;  // token 0's logit before the processors
  std::vector<float> raw_;    // all logits before the processors; empty if these only ban tokens
  std::vector<TokenScore> top_;
  std::vector<std::int32_t> indices_;
};

// The search for one source. It chooses the tokens to decode and reads their logits. Its result does not depend on
// other searches in the batch.
// Order of calls: ([draft] add_inputs read+ advance)+ [complete] take_results
// - One step of the batch is: [draft (add_draft_inputs read_draft*)*] add_inputs, then read once for each row of logits
//   asked for, then advance.
// - complete() is called only if advance() returned `completing`.
// - abandon() may replace any advance(), and then nothing else may be called.
class Search {
 public:
  // REQUIRES: `rules` outlives the search.
  Search(const SearchRules& rules, const Prompt& prompt, const Session& session);
  virtual ~Search() = default;

  // Guesses the next tokens, at most `most` of them, so that the next step can check them all. Called before
  // add_inputs(), or not at all. Searches that cannot check guesses make none.
  virtual void draft(std::size_t /*most*/) {}
  // Lets another model guess where nothing else does, in its own session, where the search's source is `source`.
  // `length` is that of the batch; see ModelDraft.
  void draft_with(Session& session, int source, DraftLength& length);
  // Appends what that model reads to draft one more token of each target that wants one. The batch calls, after
  // draft():
  //   while (add_draft_inputs() appends any) { decode in that session; read_draft() each row; }
  void add_draft_inputs(std::vector<Session::TargetTokens>& inputs);
  // Reads the output for row `row` of that model.
  void read_draft(std::size_t row, const StepOutput& output) { read_drafted(drafting_[row], output); }
  // Appends the targets and tokens of the next step. They stay valid until advance().
  virtual void add_inputs(std::vector<Session::TargetTokens>& inputs) = 0;
  // Reads the output for row `row` of this search: the rows of logits that its inputs ask for, in their order. Logits
  // and attention stay valid until advance() returns. Several threads may read different rows at the same time.
  virtual void read(std::size_t row, const StepOutput& output) = 0;
  enum class State : std::uint8_t {
    running,     // needs another step
    completing,  // needs complete()
    finished     // has its results
  };
  // Chooses tokens from the rows read. Closes all targets of this search unless it is still running.
  virtual State advance(Session& session) = 0;
  // Finishes the search with decoding of its own. Called after all other searches of the batch have advanced, since it
  // may overwrite the step's logits.
  virtual void complete(Session& /*session*/) {}
  // Stops the search early and closes its targets.
  virtual void abandon(Session& session) = 0;

  // Returns the hypotheses of a finished search, best first: the tokens after the prompt and their scores.
  virtual std::vector<Hypothesis> take_results() = 0;
  // Tokens with the model's log-probability of each; 0 for tokens of the user's prefix.
  struct ScoredTokens {
    std::span<const std::int32_t> tokens;
    std::span<const float> scores;
  };
  // Returns the tokens at the beginning of the best result that are final. Valid until advance().
  virtual ScoredTokens final_tokens() const = 0;
  // Returns the number of tokens generated so far.
  virtual std::size_t length() const = 0;
  // Returns the counts of guessed tokens so far.
  DraftCounts draft_counts() const;

 protected:
  TokenHistory history_of(std::span<const std::int32_t> tokens) const {
    return {tokens, prompt_length_, source_, limit_};
  }
  // Returns the tokens of a history after the prompt.
  std::span<const std::int32_t> generated(const TokenIds& history) const {
    return std::span(history).subspan(prompt_length_);
  }

  // Reads the output of the draft model for drafters_[number]: calls its take() or stop().
  virtual void read_drafted(std::size_t /*number*/, const StepOutput& /*output*/) {}

  std::vector<Drafter> drafters_;  // one for each target, in searches that check draft tokens
  const SearchRules& rules_;
  TokenIds source_;
  std::size_t prompt_length_;
  std::size_t limit_;  // maximum number of tokens to generate
  RandomKey random_;

 private:
  std::vector<std::size_t> drafting_;  // by row of the draft model: index into drafters_
};

// Makes a beam search if num_beams > 1, otherwise a sequence search (greedy or sampling).
// REQUIRES: `source` is the prompt's source, open in `session`.
std::unique_ptr<Search> make_search(const SearchRules& rules, const Prompt& prompt, int source, Session& session);
std::unique_ptr<Search> make_beam_search(const SearchRules& rules, const Prompt& prompt, int source, Session& session);
std::unique_ptr<Search> make_sequence_search(const SearchRules& rules, const Prompt& prompt, int source,
                                             Session& session);

}  // namespace encdec

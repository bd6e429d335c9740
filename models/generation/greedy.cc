#include "encdec/models/generation/greedy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "encdec/engine/error.h"
#include "encdec/engine/kernels/vocabulary.h"
#include "encdec/models/generation/logits_processor.h"

namespace encdec {
namespace {

// A prompt whose result is not finished.
struct Running {
  std::size_t prompt = 0;
  int target = -1;
  TokenIds history;  // the prompt's target and what came after it
  std::size_t limit = 0;
};

void open_targets(Session& session, std::span<const Prompt> prompts, const GenerationConfig& config,
                  std::vector<Running>& running) {
  const bool has_encoder = session.model().config.has_encoder();
  session.close_targets();
  if (has_encoder) {
    std::vector<TokenIds> sources;
    sources.reserve(prompts.size());
    for (const Prompt& prompt : prompts) sources.push_back(prompt.source);
    session.encode(sources);
  }
  const auto positions = session.model().config.decoder.position_limit();
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const TokenIds& start = prompts[i].target;
    int limit = config.new_token_limit(start.size());
    // The last token is not read any more, so it needs no position.
    if (positions)
      limit = std::min(limit, std::max(1, static_cast<int>(*positions) - static_cast<int>(start.size()) + 1));
    running.push_back({i, session.open_target(has_encoder ? static_cast<int>(i) : Session::kNoSource), start,
                       static_cast<std::size_t>(limit)});
  }
}

// Chooses tokens by the rules of a configuration.
class TokenChooser {
 public:
  explicit TokenChooser(const GenerationConfig& config)
      : config_(config),
        processors_(make_logits_processors(config)),
        only_bans_(std::ranges::all_of(processors_, [](const auto& processor) { return processor->only_bans(); })) {}

  // Picks the next token and adds it to the result; `logits` are changed.
  void choose(std::span<float> logits, const TokenIds& source, Running& sequence, GeneratedTokens& result) {
    const float normalizer = kernels::log_sum_exp(logits);
    if (std::isnan(normalizer)) throw BackendError("logits are not numbers");
    // Scores are those of the model, whatever rules make of its logits.
    if (!only_bans_) raw_logits_.assign(logits.begin(), logits.end());
    const float first_logit = logits.front();
    const std::size_t generated = result.tokens.size();
    const std::size_t prompt_length = sequence.history.size() - generated;
    std::optional<std::int32_t> token = config_.forced_token(prompt_length, generated);
    if (!token) {
      const TokenHistory history{sequence.history, prompt_length, source};
      for (const auto& processor : processors_) processor->process(history, logits);
      token = kernels::arg_max(logits);
    }
    if (*token < 0) {  // all are banned: transformers takes the first one too
      token = 0;
      result.score += first_logit - normalizer;
    } else {
      const auto index = static_cast<std::size_t>(*token);
      result.score += (only_bans_ ? logits[index] : raw_logits_[index]) - normalizer;
    }
    result.tokens.push_back(*token);
    sequence.history.push_back(*token);
  }

 private:
  const GenerationConfig& config_;
  LogitsProcessors processors_;
  bool only_bans_;
  std::vector<float> raw_logits_;
};

}  // namespace

std::vector<GeneratedTokens> generate_greedily(Session& session, std::span<const Prompt> prompts,
                                               const GenerationConfig& config, const TokenCallback& on_token) {
  TokenChooser chooser(config);
  std::vector<Running> running;
  open_targets(session, prompts, config, running);

  std::vector<GeneratedTokens> results(prompts.size());
  std::vector<Session::TargetTokens> step;
  while (!running.empty()) {
    step.clear();
    for (const Running& sequence : running) {
      // The whole prompt first, then each token as it was chosen.
      const bool is_new = results[sequence.prompt].tokens.empty();
      const std::span history(sequence.history);
      step.push_back({sequence.target, is_new ? history : history.last(1)});
    }
    Tensor logits = session.decode(step);
    for (std::size_t i = 0; i < running.size(); ++i) {
      const std::span row(logits.row(static_cast<std::int64_t>(i)), static_cast<std::size_t>(logits.width()));
      GeneratedTokens& result = results[running[i].prompt];
      chooser.choose(row, prompts[running[i].prompt].source, running[i], result);
      if (on_token) on_token(running[i].prompt, result.tokens.back());
    }
    std::erase_if(running, [&](const Running& sequence) {
      const TokenIds& tokens = results[sequence.prompt].tokens;
      const bool ended = std::ranges::find(config.eos_tokens, tokens.back()) != config.eos_tokens.end() ||
                         tokens.size() >= sequence.limit;
      if (ended) session.close_target(sequence.target);
      return ended;
    });
  }
  return results;
}

}  // namespace encdec

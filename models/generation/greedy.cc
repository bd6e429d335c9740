#include "encdec/models/generation/greedy.h"

#include <fmt/format.h>

#include <algorithm>

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

// Picks the next token and adds it to the result; `logits` are changed.
void choose_token(std::span<float> logits, const GenerationConfig& config, const LogitsProcessors& processors,
                  const TokenIds& source, Running& sequence, GeneratedTokens& result) {
  const float normalizer = kernels::log_sum_exp(logits);
  const std::size_t generated = result.tokens.size();
  std::optional<std::int32_t> token = config.forced_token(sequence.history.size() - generated, generated);
  if (!token) {
    const TokenHistory history{sequence.history, sequence.history.size() - generated, source};
    for (const auto& processor : processors) processor->process(history, logits);
    token = kernels::arg_max(logits);
    if (*token < 0) throw BackendError("all logits are banned or not numbers");
  }
  result.score += logits[static_cast<std::size_t>(*token)] - normalizer;
  result.tokens.push_back(*token);
  sequence.history.push_back(*token);
}

}  // namespace

std::vector<GeneratedTokens> generate_greedily(Session& session, std::span<const Prompt> prompts,
                                               const GenerationConfig& config, const TokenCallback& on_token) {
  const LogitsProcessors processors = make_logits_processors(config);
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
      choose_token(row, config, processors, prompts[running[i].prompt].source, running[i], result);
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

#include "encdec/models/generation/greedy.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/error.h"
#include "encdec/engine/kernels/vocabulary.h"
#include "encdec/models/generation/logits_processor.h"

namespace encdec {
namespace {

// A source whose target is not finished.
struct Running {
  std::size_t source = 0;
  int target = -1;
};

// Picks the next token and adds it to the result; `logits` are changed.
void choose_token(std::span<float> logits, const GenerationConfig& config, const LogitsProcessors& processors,
                  TokenIds& history, double& score) {
  const float normalizer = kernels::log_sum_exp(logits);
  std::optional<std::int32_t> token = config.forced_token(history.size());
  if (!token) {
    for (const auto& processor : processors) processor->process(history, logits);
    token = kernels::arg_max(logits);
    if (*token < 0) throw BackendError("all logits are banned or not numbers");
  }
  score += logits[static_cast<std::size_t>(*token)] - normalizer;
  history.push_back(*token);
}

}  // namespace

std::vector<GeneratedTokens> generate_greedily(Session& session, std::span<const TokenIds> sources,
                                               const GenerationConfig& config, const TokenCallback& on_token) {
  const LogitsProcessors processors = make_logits_processors(config);
  session.encode(sources);

  // While a result is in the making, its tokens are the whole history, with the start token.
  std::vector<GeneratedTokens> results(sources.size(), {{config.decoder_start_token}, 0.0});
  std::vector<Running> running;
  for (std::size_t i = 0; i < sources.size(); ++i) running.push_back({i, session.open_target(static_cast<int>(i))});

  std::vector<Session::TargetTokens> step;
  while (!running.empty()) {
    step.clear();
    for (const auto& [source, target] : running) {
      step.push_back({target, std::span(&results[source].tokens.back(), 1)});
    }
    Tensor logits = session.decode(step);
    for (std::size_t i = 0; i < running.size(); ++i) {
      GeneratedTokens& result = results[running[i].source];
      const std::span row(logits.row(static_cast<std::int64_t>(i)), static_cast<std::size_t>(logits.width()));
      choose_token(row, config, processors, result.tokens, result.score);
      if (on_token) on_token(running[i].source, result.tokens.back());
    }
    std::erase_if(running, [&](const Running& sequence) {
      const TokenIds& history = results[sequence.source].tokens;
      const bool ended = std::ranges::find(config.eos_tokens, history.back()) != config.eos_tokens.end() ||
                         history.size() > static_cast<std::size_t>(config.new_token_limit());
      if (ended) session.close_target(sequence.target);
      return ended;
    });
  }
  for (GeneratedTokens& result : results) result.tokens.erase(result.tokens.begin());
  return results;
}

}  // namespace encdec

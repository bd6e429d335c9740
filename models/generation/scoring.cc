#include "encdec/models/generation/scoring.h"

#include <algorithm>
#include <cmath>

#include "encdec/engine/error.h"
#include "encdec/engine/kernels/logits.h"
#include "encdec/models/generation/batch_limits.h"

namespace encdec {
namespace {

struct Row {
  std::vector<float>* scores;  // null where a prompt is read
  std::size_t index;
  std::int32_t token;
};

// A target that is being read.
struct Reading {
  int target = -1;
  TokenIds inputs;  // the prompt, then the target but for its last token, which nothing follows
  std::size_t done = 0;
  std::size_t prompt_length = 0;
  std::size_t number = 0;
};

}  // namespace

std::vector<std::vector<float>> score_targets(Session& session, std::span<const Prompt> prompts,
                                              std::span<const TokenIds> targets) {
  session.reset();
  const TransformerConfig& config = session.model().config;
  std::vector<std::vector<float>> scores(targets.size());
  std::span<const int> opened;
  if (config.has_encoder()) {
    std::vector<TokenIds> sources;
    for (const Prompt& prompt : prompts) sources.push_back(prompt.source);
    opened = session.encode(sources).sources;
  }
  std::vector<Reading> reading;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].empty()) continue;
    scores[i].resize(targets[i].size());
    Reading next{.inputs = prompts[i].target, .prompt_length = prompts[i].target.size(), .number = i};
    next.target = session.open_target(config.has_encoder() ? opened[i] : Session::kNoSource);
    next.inputs.insert(next.inputs.end(), targets[i].begin(), targets[i].end() - 1);
    reading.push_back(std::move(next));
  }

  const std::size_t row_limit = logits_rows(config);
  std::vector<Session::TargetTokens> inputs;
  std::vector<Row> rows;
  while (!reading.empty()) {
    inputs.clear();
    rows.clear();
    for (Reading& sequence : reading) {
      const std::size_t count = std::min(sequence.inputs.size() - sequence.done, row_limit - rows.size());
      if (count == 0) break;
      inputs.push_back({sequence.target, std::span(sequence.inputs).subspan(sequence.done, count)});
      for (std::size_t i = sequence.done; i < sequence.done + count; ++i) {
        const bool is_prompt = i + 1 < sequence.prompt_length;
        const std::size_t index = is_prompt ? 0 : i + 1 - sequence.prompt_length;
        rows.push_back({is_prompt ? nullptr : &scores[sequence.number], index, targets[sequence.number][index]});
      }
      sequence.done += count;
    }
    Tensor logits = session.decode(inputs, Session::LogitsOf::every_token);
    session.team().run(static_cast<int>(rows.size()), [&](int number, int) {
      const Row& row = rows[static_cast<std::size_t>(number)];
      if (row.scores == nullptr) return;
      const std::span values(logits.row(number), static_cast<std::size_t>(logits.width()));
      const float normalizer = kernels::log_sum_exp(values);
      if (std::isnan(normalizer)) throw BackendError("logits are not numbers");
      (*row.scores)[row.index] = values[static_cast<std::size_t>(row.token)] - normalizer;
    });
    std::erase_if(reading, [&](const Reading& sequence) {
      const bool is_done = sequence.done == sequence.inputs.size();
      if (is_done) session.close_target(sequence.target);
      return is_done;
    });
  }
  return scores;
}

}  // namespace encdec

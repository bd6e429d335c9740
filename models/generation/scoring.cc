#include "encdec/models/generation/scoring.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/logits.h"
#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/generation/not_a_number.h"
#include "encdec/models/session/token_rows.h"

namespace encdec {
namespace {

// A row of logits, from which the next token of a target is scored.
struct Row {
  const ForcedTarget* forced;
  std::vector<float>* scores;  // null for a row of the prompt
  std::size_t index;           // index of `token` in the target
  std::int32_t token;
};

// A target that the decoder is reading.
struct Reading {
  const ForcedTarget* forced;
  std::vector<float>* scores;
  int target = -1;       // number in the session
  std::size_t done = 0;  // number of tokens read
};

// Encodes the sources with indices `members`. Opens the targets of these sources, except empty targets.
std::vector<Reading> open_targets(Session& session, std::span<const ForcedTarget> targets,
                                  std::span<const std::size_t> members, std::span<std::vector<float>> scores) {
  const bool has_encoder = session.model().config.has_encoder();
  session.reset();
  std::span<const int> opened;
  if (has_encoder) {
    std::vector<TokenIds> sources;
    for (const std::size_t i : members) sources.push_back(targets[i].prompt.source);
    opened = session.encode(sources).sources;
  }
  std::vector<Reading> reading;
  for (std::size_t b = 0; b < members.size(); ++b) {
    const std::size_t i = members[b];
    if (targets[i].target.empty()) continue;
    scores[i].resize(targets[i].target.size());
    const int target = session.open_target(has_encoder ? opened[b] : Session::kNoSource);
    reading.push_back({.forced = &targets[i], .scores = &scores[i], .target = target});
  }
  return reading;
}

// Decodes all tokens of the targets and writes their scores. A step has at most logits_rows() rows.
void score_batch(Session& session, std::vector<Reading> reading) {
  const std::size_t row_limit = logits_rows(session.model().config);
  std::vector<Session::TargetTokens> inputs;
  std::vector<Row> rows;
  while (!reading.empty()) {
    inputs.clear();
    rows.clear();
    // Fill the step with the next tokens of each target, until no rows are left.
    for (Reading& sequence : reading) {
      const TokenIds& tokens = sequence.forced->decoder_input;
      const std::size_t prompt_length = sequence.forced->prompt.target.size();
      const std::size_t count = std::min(tokens.size() - sequence.done, row_limit - rows.size());
      if (count == 0) break;
      inputs.push_back({sequence.target, std::span(tokens).subspan(sequence.done, count), Session::TargetTokens::kAll});
      for (std::size_t i = sequence.done; i < sequence.done + count; ++i) {
        const bool is_prompt = i + 1 < prompt_length;
        const std::size_t index = is_prompt ? 0 : i + 1 - prompt_length;
        rows.push_back({sequence.forced, is_prompt ? nullptr : sequence.scores, index, sequence.forced->target[index]});
      }
      sequence.done += count;
    }
    // Score each row: logit - log_sum_exp(logits).
    Tensor logits = session.decode(inputs);
    session.team().run(static_cast<int>(rows.size()), [&](int number, int) {
      const Row& row = rows[static_cast<std::size_t>(number)];
      if (row.scores == nullptr) return;
      const std::span values(logits.row(number), static_cast<std::size_t>(logits.width()));
      const float normalizer = kernels::log_sum_exp(values);
      if (std::isnan(normalizer)) {
        Prompt read = row.forced->prompt;
        read.target = row.forced->decoder_input;
        throw NotANumber(std::move(read));
      }
      (*row.scores)[row.index] = values[static_cast<std::size_t>(row.token)] - normalizer;
    });
    std::erase_if(reading, [&](const Reading& sequence) {
      const bool is_done = sequence.done == sequence.forced->decoder_input.size();
      if (is_done) session.close_target(sequence.target);
      return is_done;
    });
  }
}

}  // namespace

std::vector<std::vector<float>> score_targets(Session& session, std::span<const ForcedTarget> targets, int batch_size) {
  std::vector<TokenIds> rows;
  for (const ForcedTarget& target : targets) rows.push_back(target.decoder_input);
  std::vector<std::vector<float>> scores(targets.size());
  for (const std::vector<std::size_t>& members : batches_by_length(rows, batch_size)) {
    score_batch(session, open_targets(session, targets, members, scores));
  }
  return scores;
}

}  // namespace encdec

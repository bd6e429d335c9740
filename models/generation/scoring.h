#pragma once

#include <span>
#include <vector>

#include "encdec/models/generation/prompter.h"
#include "encdec/models/session/session.h"

namespace encdec {

// Returns log P(target token | source, prompt, earlier target tokens) for each token of each target
// (teacher forcing), without logits processors. Resets the session.
// Batches have targets of similar length, and a step has at most logits_rows() rows. Results depend on neither.
std::vector<std::vector<float>> score_targets(Session& session, std::span<const ForcedTarget> targets, int batch_size);

}  // namespace encdec

#pragma once

#include <span>
#include <vector>

#include "encdec/models/generation/prompter.h"
#include "encdec/models/session/session.h"

namespace encdec {

// Returns log P(target token | source, prompt, earlier target tokens) for each token of each target (teacher forcing).
// Logits processors are not applied. Batches are those of batches_by_length(), decoded in pieces of logits_rows() rows;
// results do not depend on either. Resets the session.
std::vector<std::vector<float>> score_targets(Session& session, std::span<const ForcedTarget> targets, int batch_size);

}  // namespace encdec

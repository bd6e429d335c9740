#pragma once

#include <span>
#include <vector>

#include "encdec/models/generation/prompter.h"
#include "encdec/models/session/session.h"

namespace encdec {

// log P(target token | source, prompt, earlier target tokens) for each token of each target (teacher forcing), by the
// model alone: no rule of generation counts. Batches are those of batches_by_length(), read in pieces whose logits fit
// into memory; results do not depend on it. Resets the session.
std::vector<std::vector<float>> score_targets(Session& session, std::span<const ForcedTarget> targets, int batch_size);

}  // namespace encdec

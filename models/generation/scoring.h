#pragma once

#include <span>
#include <vector>

#include "encdec/models/generation/search.h"
#include "encdec/models/session.h"

namespace encdec {

// log P(target token | source, prompt, earlier target tokens) for each token of each target (teacher forcing), by the
// model alone: no rule of generation counts. Targets follow the prompts' own; they may be empty. All go through one
// batch, in pieces whose logits fit into memory; results do not depend on it. Resets the session.
std::vector<std::vector<float>> score_targets(Session& session, std::span<const Prompt> prompts,
                                              std::span<const TokenIds> targets);

}  // namespace encdec

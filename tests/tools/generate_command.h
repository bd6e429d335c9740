#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/command.h"

namespace encdec {

// Runs `encdec generate --quiet` with a golden checkpoint. The search is greedy unless the options contain --num-beams.
Finished run_generate(std::string_view model, std::vector<std::string> options, std::string input);
// Starts the same command.
Process start_generate(std::string_view model, std::vector<std::string> options);

// The sources of a golden checkpoint as lines of ids, and what transformers generates from them by greedy search.
std::string golden_sources(std::string_view model);
std::string golden_outputs(std::string_view model);

}  // namespace encdec

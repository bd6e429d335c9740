#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/command.h"

namespace encdec {

// `encdec generate --quiet` with a golden checkpoint: greedily, unless the options have --num-beams.
Finished run_generate(std::string_view model, std::vector<std::string> options, std::string input);

// Lines of ids: what the golden checkpoint gets, and what greedy search of transformers makes of them.
std::string golden_sources(std::string_view model);
std::string golden_outputs(std::string_view model);

}  // namespace encdec

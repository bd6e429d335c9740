#include "tests/tools/generate_command.h"

#include <algorithm>

#include "tests/tools/files.h"

namespace encdec {
namespace {

std::string golden_lines(std::string_view model, std::string_view tensor) {
  return join_lines(id_lines(read_tensor(golden_folder(model) / "expected.safetensors", tensor)));
}

std::vector<std::string> arguments_of(std::string_view model, std::vector<std::string> options) {
  if (std::ranges::find(options, "--num-beams") == options.end()) {
    options.insert(options.end(), {"--num-beams", "1"});
  }
  options.insert(options.begin(), {"generate", "--quiet", "--model", golden_model(model)});
  return options;
}

}  // namespace

Finished run_generate(std::string_view model, std::vector<std::string> options, std::string input) {
  return encdec_command(arguments_of(model, std::move(options)), std::move(input));
}

Process start_generate(std::string_view model, std::vector<std::string> options) {
  options = arguments_of(model, std::move(options));
  options.insert(options.begin(), kEncdec);
  return Process(options);
}

std::string golden_sources(std::string_view model) {
  return golden_lines(model, "source_ids");
}

std::string golden_outputs(std::string_view model) {
  return golden_lines(model, "greedy_ids");
}

}  // namespace encdec

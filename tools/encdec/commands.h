#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <stdexcept>
#include <string_view>

namespace encdec::cli {

// What the parsed arguments ask for. Throws encdec::Error where it fails, and UsageError.
using Action = std::function<void()>;

// Arguments that are fine one by one but do not make sense together.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes one line on standard error: "encdec: " and the message.
void print_error(std::string_view message);

// One subcommand each, in the file of its name: declares its options, and returns what to do once they are parsed.
Action add_attention(CLI::App& command);
Action add_bench(CLI::App& command);
Action add_embed(CLI::App& command);
Action add_forward(CLI::App& command);
Action add_generate(CLI::App& command);
Action add_inspect(CLI::App& command);
Action add_score(CLI::App& command);
Action add_serve(CLI::App& command);
Action add_tokenize(CLI::App& command);
Action add_transcribe(CLI::App& command);

}  // namespace encdec::cli

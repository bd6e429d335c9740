#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace encdec {
class Model;

namespace cli {

// Runs a subcommand after its arguments are parsed. Throws UsageError, or encdec::Error if the work fails.
using Action = std::function<void()>;

// Wrong usage that the argument parser cannot detect, such as two options that exclude each other.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes one line to standard error: "encdec: " and the message.
void print_error(std::string_view message);

struct Subcommand {
  const char* name;
  const char* description;           // one line of the help
  Action (*add)(CLI::App& command);  // declares the options and returns the action
  const char* example = nullptr;     // shown at the end of `encdec --help`
};

// A slice's part of the command.
struct CommandSlice {
  std::span<const Subcommand> subcommands;
  void (*inspect)(const Model& model, nlohmann::ordered_json& json) = nullptr;  // extends the summary of `inspect`
};
// Returns the slices of this build.
std::vector<CommandSlice> command_slices();

// The subcommands that belong to no slice: add_forward() is in forward.cc, and so on. For the slices, see slice.h.
Action add_attention(CLI::App& command);
Action add_bench(CLI::App& command);
Action add_forward(CLI::App& command);
Action add_generate(CLI::App& command);
Action add_inspect(CLI::App& command);
Action add_score(CLI::App& command);
Action add_serve(CLI::App& command);
Action add_tokenize(CLI::App& command);

}  // namespace cli
}  // namespace encdec

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

// The work of a subcommand, to call after its arguments are parsed. Throws UsageError, or encdec::Error if the work
// fails.
using Action = std::function<void()>;

// Wrong usage that the argument parser does not detect, such as two options that exclude each other.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes one line to standard error: "encdec: " and the message.
void print_error(std::string_view message);

// A subcommand.
struct Subcommand {
  const char* name;
  const char* description;           // one line of the help
  Action (*add)(CLI::App& command);  // declares its options, and returns its action
  const char* example = nullptr;     // a line of the help of `encdec`; null: none
};

// A slice's part of the command.
struct CommandSlice {
  std::span<const Subcommand> subcommands;
  void (*inspect)(const Model& model, nlohmann::ordered_json& json) = nullptr;  // adds to what `encdec inspect` shows
};
// Returns the slices of this build.
std::vector<CommandSlice> command_slices();

// The subcommands of the host: add_forward() is in forward.cc, and so on. Slices have the others, see slice.h.
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

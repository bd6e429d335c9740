#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <stdexcept>
#include <string_view>

namespace encdec::cli {

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

// Each function declares the options of one subcommand and returns its action. add_embed() is in embed.cc, and so on;
// add_rerank() and add_tag() are in classify.cc.
Action add_align(CLI::App& command);
Action add_attention(CLI::App& command);
Action add_bench(CLI::App& command);
Action add_classify(CLI::App& command);
Action add_embed(CLI::App& command);
Action add_forward(CLI::App& command);
Action add_generate(CLI::App& command);
Action add_inspect(CLI::App& command);
Action add_rerank(CLI::App& command);
Action add_score(CLI::App& command);
Action add_serve(CLI::App& command);
Action add_tag(CLI::App& command);
Action add_tokenize(CLI::App& command);
Action add_transcribe(CLI::App& command);
Action add_translate(CLI::App& command);

}  // namespace encdec::cli

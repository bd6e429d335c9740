// The command `encdec`. Parses arguments, runs one subcommand, and reports a failure as one line on standard error and
// an exit status.
#include <encdec/engine/base/cancellation.h>
#include <encdec/engine/base/error.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <iostream>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments/arguments.h"
#include "command/commands.h"
#include "command/interrupt.h"
#include "command/lines.h"
#include "command/options.h"
#include "command/output_file.h"
#include "common/process_memory.h"
#include "slice.h"

namespace encdec::cli {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kSignalBase = 128;  // added to the signal's number, as shells do for a killed process

constexpr std::array kSubcommands = {
    Subcommand{"generate", "Generate text, such as a translation or summary: one output line for each input line",
               add_generate, "encdec generate --model opus-mt-en-fr --input english.txt --output french.txt"},
    Subcommand{"forward", "Compute logits and encoder outputs of given token ids; write them to a .safetensors file",
               add_forward},
    Subcommand{"score", "Compute log-probabilities of given targets: one JSON object for each pair of lines",
               add_score},
    Subcommand{"tokenize", "Convert texts to token ids and back", add_tokenize},
    Subcommand{"attention", "Show attention weights in the terminal, as a picture or numbers", add_attention,
               "encdec attention --model opus-mt-en-fr \"The cat sat.\" --output cat.svg"},
    Subcommand{"inspect", "Show what a checkpoint folder contains: sizes, precision, tensors, graph", add_inspect,
               "encdec inspect --model opus-mt-en-fr"},
    Subcommand{"bench", "Measure the speed of generation with random sources; print one JSON object", add_bench},
#if ENCDEC_SERVER
    Subcommand{"serve", "Serve translation, generation, embeddings and transcription over HTTP to existing clients",
               add_serve},
#endif
};

// Returns the subcommands in kSubcommands, followed by the subcommands of the slices.
std::vector<Subcommand> subcommands() {
  std::vector<Subcommand> all(kSubcommands.begin(), kSubcommands.end());
  for (const CommandSlice& slice : command_slices()) {
    all.insert(all.end(), slice.subcommands.begin(), slice.subcommands.end());
  }
  return all;
}

// The names of the slices that this build leaves out, and "serve" if the build has no server. Example: "speech, serve".
constexpr std::string_view kLeftOut = ENCDEC_LEFT_OUT;

constexpr const char* kFooter = R"(Exit status:
  0  success
  1  failure: standard error has one line with the place, what was found and what was expected
  2  wrong usage: standard error has one line with the reason
  128 + N  stopped by signal N

Environment:
  ENCDEC_THREADS, OMP_NUM_THREADS  threads if --threads is not given; ENCDEC_THREADS takes precedence
  ENCDEC_MAX_ISA  newest instruction set to use, for bitwise identical results on different machines: sse4.1, avx2,
                  avx512, avx512_vnni or avx512_bf16
  NO_COLOR  if not empty, no colours in a terminal
)";

// Returns the end of the help: examples, and the parts that this build leaves out.
std::string footer(std::span<const Subcommand> all) {
  std::string text = fmt::format("{}\nExamples:", kFooter);
  for (const Subcommand& each : all) {
    if (each.example != nullptr) text += fmt::format("\n  {}", each.example);
  }
  return text + (kLeftOut.empty() ? "" : fmt::format("\n\nNot in this build: {}", kLeftOut));
}

void prepare_process() {
  // If a standard stream is closed, the next opened file would get its descriptor, so open /dev/null: standard input
  // for writing and standard output for reading, so that using them still fails. Standard error is discarded.
  for (const auto& [descriptor, mode] :
       {std::pair{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}}) {
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", mode);
  }
  prepare_memory("encdec");
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);  // write() reports the error
  watch_interrupts();
  auto logger = spdlog::stderr_logger_mt("encdec");
  logger->set_pattern("%n: %l: %v");
  spdlog::set_default_logger(std::move(logger));
}

int run(int argc, char** argv) {
  CLI::App app("Transformer inference: translation, summarisation, speech recognition, text embeddings and more.",
               "encdec");
  app.set_version_flag("--version", "encdec " ENCDEC_VERSION);
  add_document_options(app, "encdec-demo(1), encdec-bench(1)");
  app.require_subcommand(0, 1);
  std::vector<std::pair<CLI::App*, Action>> actions;
  const std::vector<Subcommand> all = subcommands();
  for (const Subcommand& each : all) {
    CLI::App* command = app.add_subcommand(each.name, each.description);
    actions.emplace_back(command, each.add(*command));
  }
  app.footer(footer(all));  // last, because subcommands that are added later inherit the footer
  if (const std::string error = single_dash_error(app, argc, argv); !error.empty()) throw UsageError(error);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help or --version
      std::ostringstream text;
      app.exit(error, text, text);
      OutputFile output("");
      output.write(text.str());
      output.commit();
      return kDone;
    }
    std::string message = usage_error(app, error);
    if (!kLeftOut.empty() && message.starts_with("unknown command")) {
      message += fmt::format("; not in this build: {}", kLeftOut);
    }
    print_error(message);
    return kWrongUsage;
  }
  for (const auto& [command, action] : actions) {
    if (!command->parsed()) continue;
    check_files(*command);
    action();
    return kDone;
  }
  std::cerr << app.help();
  return kWrongUsage;
}

// Runs the command and converts exceptions to messages and exit statuses.
int guarded_run(int argc, char** argv) {
  try {
    prepare_process();
    const std::function<void()> check = throw_if_interrupted;
    const CancellationScope scope(check);
    return run(argc, argv);
  } catch (const UsageError& error) {
    print_error(error.what());
    return kWrongUsage;
  } catch (const OutputClosed&) {
    return kFailed;
  } catch (const Interrupted& stop) {
    print_error(stop.what());
    return kSignalBase + stop.signal();
  } catch (const std::bad_alloc& error) {
    print_error(message_of(error));
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return kFailed;
}

}  // namespace

std::vector<CommandSlice> command_slices() {
  return {
#define ENCDEC_SLICE(name) name##_command_slice(),
#include "slices.inc"
#undef ENCDEC_SLICE
  };
}

// Writes the line with one call. If there is no memory for the line, writes the message character by character.
void print_error(std::string_view message) {
  try {
    const std::string line = "encdec: " + without_controls(message) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  } catch (const std::bad_alloc&) {
    std::fputs("encdec: ", stderr);
    for (const char c : message) std::fputc(c >= ' ' && c <= '~' ? c : '?', stderr);
    std::fputc('\n', stderr);
  }
}

}  // namespace encdec::cli

int main(int argc, char** argv) {
  return encdec::cli::guarded_run(argc, argv);
}

// encdec: Transformer inference from the command line. Parses arguments, runs one subcommand and turns every failure
// into one line on standard error and an exit status.
#include <encdec/engine/base/cancellation.h>
#include <fcntl.h>
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
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "arguments/arguments.h"
#include "common/process_memory.h"
#include "encdec/commands.h"
#include "encdec/interrupt.h"
#include "encdec/lines.h"
#include "encdec/options.h"
#include "encdec/output_file.h"

namespace encdec::cli {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kSignalBase = 128;  // as a shell reports a process that a signal has ended

struct Subcommand {
  const char* name;
  const char* description;
  Action (*add)(CLI::App& command);
};

constexpr std::array kSubcommands = {
    Subcommand{"generate", "Translate, or whatever the model was made for: one line out for each line in",
               add_generate},
    Subcommand{"transcribe", "What is said in recordings, with times: text, subtitles or JSON", add_transcribe},
    Subcommand{"forward", "Logits and encoder states for given sources and targets, to a .safetensors file",
               add_forward},
    Subcommand{"score", "How likely a model finds given targets: one JSON object for each pair of lines", add_score},
    Subcommand{"embed", "One vector for each text, from an encoder-only model", add_embed},
    Subcommand{"tokenize", "Texts to token ids and back", add_tokenize},
    Subcommand{"attention", "What the model looks at: attention weights as a picture, a page or numbers",
               add_attention},
    Subcommand{"inspect", "What is in a checkpoint folder: sizes, precision, tensors, graph", add_inspect},
    Subcommand{"bench", "Speed of generation: exactly so many tokens for random sources, as one JSON object",
               add_bench},
    Subcommand{"serve", "Translation, generation and embeddings over HTTP, for clients that are there already",
               add_serve},
};

constexpr const char* kFooter = R"(Exit status:
  0  done
  1  failed: one line on standard error says where, what was found, and what was expected
  2  wrong usage, likewise
  128 + N  ended by signal N

Environment:
  ENCDEC_THREADS, OMP_NUM_THREADS  threads where --threads is not given; the first that is set counts
  ENCDEC_MAX_ISA  keeps to lesser instructions of the CPU, so that different machines give the same bytes: sse4.1, avx2,
                  avx512, avx512_vnni or avx512_bf16
  NO_COLOR  if not empty, no colours in a terminal

Examples:
  encdec generate --model opus-mt-en-fr --input english.txt --output french.txt
  encdec transcribe --model whisper-tiny --output-format srt speech.flac
  echo "A sentence" | encdec embed --model all-MiniLM-L6-v2
  encdec attention --model opus-mt-en-fr "The cat sat." --output cat.html
  encdec inspect --model opus-mt-en-fr)";

void prepare_process() {
  // A standard stream that is closed must not become the next file that is opened. The other way round than it is
  // used, so that reading and writing are errors still; messages are lost.
  for (const auto& [descriptor, mode] :
       {std::pair{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}}) {
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", mode);
  }
  prepare_memory("encdec");
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);  // a write reports it
  watch_interrupts();
  auto logger = spdlog::stderr_logger_mt("encdec");
  logger->set_pattern("%n: %l: %v");
  spdlog::set_default_logger(std::move(logger));
}

int run(int argc, char** argv) {
  CLI::App app(
      "Transformer inference: translation, summarisation, text embeddings and whatever else a checkpoint does.",
      "encdec");
  app.set_version_flag("--version", "encdec " ENCDEC_VERSION);
  add_document_options(app, "encdec-demo(1), encdec-bench(1)");
  app.require_subcommand(0, 1);
  std::array<std::pair<CLI::App*, Action>, kSubcommands.size()> actions;
  for (std::size_t i = 0; i < kSubcommands.size(); ++i) {
    CLI::App* command = app.add_subcommand(kSubcommands[i].name, kSubcommands[i].description);
    actions[i] = {command, kSubcommands[i].add(*command)};
  }
  app.footer(kFooter);  // subcommands that are added later would have it too
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
    print_error(usage_error(app, error));
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
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return kFailed;
}

}  // namespace

// In one piece, unless there is no memory, which may be the very error.
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

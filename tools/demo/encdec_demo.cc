// encdec-demo: pronounces English words, with greedy decoding and token by token, and transcribes recordings. Uses the
// small bundled models. pronounce_all(), pronounce() and transcribe_all() contain all calls of the library.
#include <encdec/engine/base/error.h>
#include <encdec/engine/base/machine.h>
#include <encdec/models/generation/text_stream.h>
#include <encdec/models/model.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#if ENCDEC_DEMO_SPEECH
#include <encdec/speech/speech_model.h>
#endif

#include "arguments/arguments.h"
#include "common/process_memory.h"
#include "common/stopwatch.h"

namespace {

constexpr const char* kPronunciation = "english-pronunciation";
constexpr int kWaitForInput = 5000;  // milliseconds
const std::vector<std::string> kSample = {"attention", "encoder", "decoder", "transformer", "engine",      "knight",
                                          "through",   "phoneme", "quiche",  "photograph",  "photography", "squirrel"};

// Returns the folder of a bundled model. It is relative to this program, so that both can be moved together.
std::filesystem::path bundled_model(const char* name) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / ENCDEC_DATA_FROM_PROGRAM / "pretrained" / name).lexically_normal();
}

// Reads words, one per line, from standard input. Returns none if it is a terminal, or if no input arrives within
// kWaitForInput: a parent process often leaves a pipe to which it never writes.
std::vector<std::string> words_of_standard_input() {
  std::vector<std::string> words;
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (isatty(STDIN_FILENO) == 0 && poll(&input, 1, kWaitForInput) > 0) {
    for (std::string line; std::getline(std::cin, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (!line.empty()) words.push_back(line);
    }
  }
  return words;
}

// Returns a number with its noun: "1 word", "2 words".
std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Prints a word and its pronunciation while it is decoded. Returns the number of tokens.
std::size_t pronounce(const encdec::Model& model, const std::string& word) {
  fmt::print("{:<16}", word);
  std::size_t tokens = 0, printed = 0;
  encdec::TextStream stream(*model.tokenizer());  // returns only final text, which later tokens cannot change
  encdec::GenerateOptions options;
  options.num_beams = 1;
  options.on_token = [&](std::size_t, std::int32_t token) {
    const std::string text = stream.push(token);
    fmt::print("{}", text);
    std::fflush(stdout);
    printed += text.size();
    ++tokens;
  };
  const std::string text = model.generate({word}, options).front().hypotheses.front().text;
  fmt::print("{}\n", text.substr(std::min(printed, text.size())));
  return tokens;
}

// Pronounces words with the model in `folder`, and prints the speed.
void pronounce_all(const std::string& folder, const std::vector<std::string>& words) {
  const encdec::cli::Stopwatch loading;
  const encdec::Model model = encdec::Model::load(folder);
  if (model.tokenizer() == nullptr) throw encdec::TokenizerError(folder + ": no tokenizer files, expected some");
  const double load_seconds = loading.seconds();

  const encdec::cli::Stopwatch pronouncing;
  std::size_t tokens = 0;
  for (const std::string& word : words) tokens += pronounce(model, word);
  const double seconds = pronouncing.seconds();
  fmt::print("\n{}, {} in {:.3f} s: {:.0f} words/s, {:.0f} tokens/s; loaded in {:.3f} s, {}\n",
             counted(words.size(), "word"), counted(tokens, "token"), seconds,
             static_cast<double>(words.size()) / seconds, static_cast<double>(tokens) / seconds, load_seconds,
             counted(static_cast<std::size_t>(encdec::default_threads()), "thread"));
}

#if ENCDEC_DEMO_SPEECH
constexpr const char* kNumbers = "english-numbers";

// Returns the recordings that are bundled with the speech model.
std::vector<std::string> bundled_clips() {
  std::vector<std::string> clips;
  for (const char* name : {"timer.wav", "number.wav", "pause.wav"}) {
    clips.push_back((bundled_model(kNumbers) / "clips" / name).string());
  }
  return clips;
}

// Transcribes recordings. Prints segments with timestamps as soon as they are final, and then the speed.
void transcribe_all(const std::string& folder, const std::vector<std::string>& files) {
  const encdec::SpeechModel model(encdec::Model::load(folder));
  const encdec::cli::Stopwatch stopwatch;
  double speech_seconds = 0;
  for (const std::string& file : files) {
    encdec::TranscribeOptions options;
    options.on_segments = [&](std::size_t, std::span<const encdec::TranscriptSegment> segments) {
      for (const encdec::TranscriptSegment& segment : segments) {
        fmt::print("{:<16}{:5.2f} s to {:5.2f} s {}\n", std::filesystem::path(file).filename().string(), segment.start,
                   segment.end, segment.text);
      }
      std::fflush(stdout);
    };
    speech_seconds += model.transcribe(encdec::Recording::of_file(file), options).duration;
  }
  const double seconds = stopwatch.seconds();
  fmt::print("\n{:.1f} s of speech in {:.3f} s: {:.0f} times as fast as it was spoken\n", speech_seconds, seconds,
             speech_seconds / seconds);
}
#endif

// Flushes standard output. Throws FileError if some output could not be written.
void finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush()) return;
  throw encdec::FileError(std::string("standard output: cannot write: ") + std::strerror(errno));
}

}  // namespace

int main(int argc, char** argv) {
  encdec::cli::prepare_memory("encdec-demo");
  try {
    // Define and parse the arguments.
    CLI::App app("Pronounces English words: the given words, else the lines of standard input, else a sample.",
                 "encdec-demo");
    std::string folder;
    std::vector<std::string> words, recordings;
    app.add_option("--model", folder, "Checkpoint folder to use instead of the bundled one")->type_name("DIR");
#if ENCDEC_DEMO_SPEECH
    app.description(app.get_description() +
                    " Transcribes the recordings given with --speech; with the sample of "
                    "words, also three bundled recordings.");
    app.add_option("--speech", recordings, "Recordings to transcribe; the bundled model knows numbers and commands")
        ->type_name("FILE...");
#endif
    app.add_option("words", words, "Words to pronounce");
    app.set_version_flag("--version", "encdec-demo " ENCDEC_VERSION);
    encdec::cli::add_document_options(app, "encdec(1)");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {  // includes --help
      if (error.get_exit_code() != 0) {
        std::fprintf(stderr, "encdec-demo: %s\n", encdec::cli::usage_error(app, error).c_str());
        return 2;
      }
      app.exit(error);
      finish_output();
      return 0;
    }
    // Without arguments, use the words of standard input, or else the samples of words and recordings.
    if (recordings.empty()) {
      if (words.empty()) words = words_of_standard_input();
      pronounce_all(folder.empty() ? bundled_model(kPronunciation).string() : folder, words.empty() ? kSample : words);
    }
#if ENCDEC_DEMO_SPEECH
    if (recordings.empty() && words.empty() && folder.empty()) {
      fmt::print("\n");
      recordings = bundled_clips();
    }
    if (!recordings.empty()) transcribe_all(folder.empty() ? bundled_model(kNumbers).string() : folder, recordings);
#endif
    finish_output();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "encdec-demo: %s\n", error.what());
    return 1;
  }
  return 0;
}

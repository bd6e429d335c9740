// Tests runs in which the disk or the system fails at any point. A run that ends with status 1 prints one line, a run
// that ends with 0 has lost nothing, and an output file with its final name is complete. Each call of a kind fails in
// turn, alone and with all later calls. By default only a sample of the calls is tried, always the same. With
// ENCDEC_ALL_FAULTS in the environment all calls are tried, which takes hours.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

const bool kIsEmulated = !std::string(ENCDEC_EMULATOR).empty();
constexpr long kSample = 16;  // number of calls of a kind that are tried by default

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* kCannotRun = "sanitizers must be loaded before other libraries";
#elif !defined(__GLIBC__)
constexpr const char* kCannotRun = "main is called by glibc";
#else
const char* const kCannotRun = kIsEmulated ? "an emulator would be preloaded too" : nullptr;
#endif

// Returns a path without spaces of the library that makes calls fail. The loader ends a name at a space.
std::string fail_call_library() {
  static const TemporaryFolder folder;
  const std::string link = folder.path("fail_call.so");
  if (!std::filesystem::exists(link)) std::filesystem::create_symlink(ENCDEC_FAIL_CALL_LIBRARY, link);
  return link;
}

// A run of encdec. In its arguments, "OUT" becomes a file in a separate folder, and "IN" a file that contains the
// input.
struct Case {
  const char* name;
  std::vector<std::string> arguments;
  std::string input;
  bool is_repeatable = true;  // every run writes the same
};

struct Ended {
  Finished finished;
  bool has_file = false;
  std::string file;
  long calls = 0;  // number of calls of the kind that may fail
};

struct Fault {
  const char* call;
  long number = 0;
  bool forever = false;
};

Ended run_with(const Case& test, const Fault& fault) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments = {"/usr/bin/env", "LD_PRELOAD=" + fail_call_library(),
                                        fmt::format("ENCDEC_FAIL_CALL={}", fault.call),
                                        fmt::format("ENCDEC_FAIL_AT={}", fault.number)};
  if (fault.forever) arguments.emplace_back("ENCDEC_FAIL_FOREVER=1");
  if (fault.number == 0) arguments.push_back("ENCDEC_FAIL_COUNT=" + folder.path("count"));
  arguments.push_back(kEncdec);
  for (const std::string& argument : test.arguments) {
    arguments.push_back(argument.starts_with("OUT") ? folder.path(argument)
                        : argument == "IN"          ? folder.write(argument, test.input)
                                                    : argument);
  }
  Ended ended;
  ended.finished = run({std::move(arguments), test.input, {}, {}});
  for (const std::string& name : folder.names()) {
    if (name == "count") ended.calls = std::strtol(folder.read(name).c_str(), nullptr, 10);
    if (!name.starts_with("OUT") || name.ends_with(".partial")) continue;
    ended.has_file = true;
    ended.file = folder.read(name);
  }
  return ended;
}

// Returns what is wrong with the end of a run, compared with a run without a fault; empty if nothing is.
std::string wrong_with(const Ended& ended, const Ended& expected, bool is_repeatable) {
  const Finished& finished = ended.finished;
  const bool is_whole = !ended.has_file || ended.file == expected.file;
  if (!is_whole) return "an output file that is not whole";
  if (finished.status == 0) {
    if (ended.has_file != expected.has_file) return "status 0 without the output file";
    if (is_repeatable && finished.output != expected.finished.output) return "status 0 with other output";
    return "";
  }
  if (finished.status != 1) return fmt::format("status {}, expected 0 or 1", finished.status);
  if (!finished.errors.starts_with("encdec: ") || std::ranges::count(finished.errors, '\n') != 1 ||
      !finished.errors.ends_with('\n')) {
    return "expected one line that begins with 'encdec: '";
  }
  return "";
}

class Faults : public testing::TestWithParam<Case> {};

TEST_P(Faults, EndWithOneLineAndLoseNothing) {
  if (kCannotRun != nullptr) GTEST_SKIP() << kCannotRun;
  const Case& test = GetParam();
  const bool all = std::getenv("ENCDEC_ALL_FAULTS") != nullptr;
  for (const char* call : {"read", "write", "open", "fsync", "rename"}) {
    const Ended expected = run_with(test, {call});
    ASSERT_EQ(expected.finished.status, 0) << expected.finished.errors;
    const long count = all ? expected.calls : std::min(expected.calls, kSample);
    long failures = 0;
    for (long i = 0; i < 2 * count; ++i) {
      const long number = count == 1 ? 1 : 1 + i / 2 * (expected.calls - 1) / (count - 1);
      const Fault fault{call, number, i % 2 == 1};
      const Ended ended = run_with(test, fault);
      failures += ended.finished.status == 1 ? 1 : 0;
      const std::string wrong = wrong_with(ended, expected, test.is_repeatable);
      EXPECT_EQ(wrong, "") << call << " " << number << " of " << expected.calls
                           << (fault.forever ? " and all after it" : "") << ": status " << ended.finished.status
                           << ", errors '" << ended.finished.errors << "'";
    }
    // Checks that faults reach the program.
    EXPECT_TRUE(call != std::string_view("write") || failures > 0) << call;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, Faults,
    testing::Values(
        Case{"Generate", {"generate", "--quiet", "--token-ids", "--model", golden_model("odd_sizes")}, "5 6 0\n"},
        Case{"GenerateToFile",
             {"generate", "--quiet", "--json", "--num-beams", "1", "--model", golden_model("text"), "--output", "OUT"},
             "a b\n"},
        Case{"Tokenize", {"tokenize", "--model", golden_model("text")}, "a b\n"},
        Case{"Inspect", {"inspect", "--json", "--model", golden_model("gelu_sharded")}, "", false},
        Case{"Attention", {"attention", "--quiet", "--model", golden_model("text"), "a b", "--output", "OUT.svg"}, ""},
        Case{"Forward",
             {"forward", "--model", golden_model("untied"), "--decoder-input", "IN", "--output", "OUT"},
             "5 6 0\n"}),
    [](const auto& tested) { return std::string(tested.param.name); });

// Copies a model, and truncates the file `name` of the copy as soon as the program maps it. Returns what the program
// writes to standard error, with the file's path replaced by FILE.
std::string errors_of_cut(std::vector<std::string> program, const std::string& model, const std::string& name) {
  const TemporaryFolder folder;
  std::filesystem::copy(golden_model("../" + model), folder.path("model"));
  const std::string file = std::filesystem::canonical(folder.path("model/" + name));
  program.insert(program.begin(), {"/usr/bin/env", "LD_PRELOAD=" + fail_call_library(), "ENCDEC_CUT_MAPPED=" + file});
  program.insert(program.end(), {"--model", folder.path("model")});
  const Finished finished = run({std::move(program), "a\n", {}, {}});
  EXPECT_EQ(finished.status, 1);
  std::string errors = finished.errors;
  if (const auto at = errors.find(file); at != std::string::npos) errors.replace(at, file.size(), "FILE");
  return errors;
}

TEST(CutFiles, AreNamedInOneLine) {
  if (kCannotRun != nullptr) GTEST_SKIP() << kCannotRun;
  const std::string line = ": FILE: has become shorter while it was read, or its disk fails\n";
  for (const auto& [model, name] : {std::pair{"marian/text", "model.safetensors"},
                                    {"pytorch/marian", "pytorch_model.bin"},
                                    {"npz/tied_all", "model.npz"},
                                    {"ctranslate2/marian", "model.bin"}}) {
    EXPECT_EQ(errors_of_cut({kEncdec, "inspect"}, model, name), "encdec" + line);
  }
  EXPECT_EQ(errors_of_cut({kEncdecDemo, "a"}, "marian/text", "model.safetensors"), "encdec-demo" + line);
}

}  // namespace
}  // namespace encdec

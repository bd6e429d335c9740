#include "tests/tools/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace encdec {
namespace {

const std::string kEmulator = ENCDEC_EMULATOR;
const unsigned kSecondsAllowed = kEmulator.empty() ? 240 : 2400;

int check(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

pid_t start(std::vector<std::string> arguments, const std::array<int, 3>& standard,
            const std::vector<int>& closed = {}) {
  // Programs built for another CPU run in an emulator. Shells run directly.
  const auto folder = [](const std::string& program) { return std::filesystem::path(program).parent_path(); };
  const bool is_ours = folder(arguments.front()) == folder(kEncdecDemo);
  if (is_ours && !kEmulator.empty()) arguments.insert(arguments.begin(), kEmulator);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t process = check(::fork(), "fork");
  if (process != 0) return process;
  for (int i = 0; i < 3; ++i) ::dup2(standard[static_cast<std::size_t>(i)], i);
  for (const int descriptor : closed) ::close(descriptor);
  ::signal(SIGPIPE, SIG_DFL);
  ::alarm(kSecondsAllowed);
  ::execvp(pointers[0], pointers.data());
  ::_exit(127);
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) check(-1, "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int memory_file() {
  return check(::memfd_create("command", MFD_CLOEXEC), "memfd_create");
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EPIPE) return;  // the program has ended; its status says why
    if (count < 0) check(-1, "write");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0) check(-1, "read");
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string take_memory_file(int descriptor) {
  ::lseek(descriptor, 0, SEEK_SET);
  std::string text = read_all(descriptor);
  ::close(descriptor);
  return text;
}

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace

const std::string kEncdec = ENCDEC_COMMAND;
const std::string kEncdecDemo = ENCDEC_DEMO_COMMAND;

Finished run(const Command& command) {
  const int input = memory_file(), errors = memory_file();
  const int output = command.output_file.empty()
                         ? memory_file()
                         : check(::open(command.output_file.c_str(), O_WRONLY | O_CLOEXEC), "open");
  write_all(input, command.input);
  ::lseek(input, 0, SEEK_SET);
  Finished finished;
  finished.status = wait_for(start(command.arguments, {input, output, errors}, command.closed));
  ::close(input);
  if (command.output_file.empty()) {
    finished.output = take_memory_file(output);
  } else {
    ::close(output);
  }
  finished.errors = take_memory_file(errors);
  return finished;
}

Process::Process(std::vector<std::string> arguments) : errors_(memory_file()) {
  ::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> input, output;
  check(::pipe2(input.data(), O_CLOEXEC), "pipe2");
  check(::pipe2(output.data(), O_CLOEXEC), "pipe2");
  process_ = start(std::move(arguments), {input[0], output[1], errors_});
  ::close(input[0]);
  ::close(output[1]);
  input_ = input[1];
  output_ = output[0];
}

Process::~Process() {
  close_if_open(input_);
  close_if_open(output_);
  close_if_open(errors_);
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
}

void Process::write(std::string_view text) {
  write_all(input_, text);
}
void Process::wait_for_reading() {
  for (int unread = 1; unread > 0; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    check(::ioctl(input_, FIONREAD, &unread), "ioctl");
  }
}
void Process::close_input() {
  close_if_open(input_);
}
void Process::close_output() {
  close_if_open(output_);
}
void Process::send(int signal) {
  ::kill(process_, signal);
}

std::string Process::read_line() {
  std::string line;
  for (char c = 0; ::read(output_, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

std::string Process::read(std::size_t bytes) {
  std::string text;
  for (char c = 0; text.size() < bytes && ::read(output_, &c, 1) == 1;) text += c;
  return text;
}

Finished Process::wait() {
  close_input();
  Finished finished;
  if (output_ >= 0) finished.output = read_all(output_);
  finished.status = wait_for(std::exchange(process_, -1));
  finished.errors = take_memory_file(std::exchange(errors_, -1));
  return finished;
}

testing::AssertionResult failed(const Finished& finished, int status, const std::vector<std::string>& parts) {
  const auto wrong = [&](std::string_view what) {
    return testing::AssertionFailure() << what << "; status " << finished.status << ", output '" << finished.output
                                       << "', errors '" << finished.errors << "'";
  };
  if (finished.status != status) return wrong(fmt::format("expected status {}", status));
  if (!finished.output.empty()) return wrong("expected nothing on standard output");
  if (!finished.errors.starts_with("encdec: ") || std::ranges::count(finished.errors, '\n') != 1 ||
      !finished.errors.ends_with('\n')) {
    return wrong("expected one line that begins with 'encdec: '");
  }
  for (const std::string& part : parts) {
    if (finished.errors.find(part) == std::string::npos)
      return wrong(fmt::format("expected '{}' in the message", part));
  }
  return testing::AssertionSuccess();
}

Finished encdec_command(std::vector<std::string> arguments, std::string input) {
  arguments.insert(arguments.begin(), kEncdec);
  return run({std::move(arguments), std::move(input), {}, {}});
}

Finished run_with_typed(const std::string& typed, std::vector<std::string> arguments) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) throw std::runtime_error("no terminal");
  const std::string path = ::ptsname(terminal);
  const int other_end = ::open(path.c_str(), O_RDWR | O_NOCTTY);
  EXPECT_EQ(::write(terminal, typed.data(), typed.size()), static_cast<ssize_t>(typed.size()));
  arguments.insert(arguments.begin(), {"/bin/sh", "-c", "exec \"$@\" < " + path, "sh", kEncdec});
  Finished finished = run({std::move(arguments), "", {}, {}});
  ::close(other_end);
  ::close(terminal);
  return finished;
}

}  // namespace encdec

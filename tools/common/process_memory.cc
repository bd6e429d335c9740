#include "common/process_memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <span>
#include <string_view>

#if defined(__linux__)
#include <malloc.h>
#endif

namespace encdec::cli {
namespace {

const char* program_name = "";

// The functions below run in a signal handler, so they only call async-signal-safe functions.

// Writes to standard error.
void write_error(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

// Reads a line. Returns the line without its newline, truncated to the size of `room`, or "" at the end of the file.
std::string_view read_line(int descriptor, std::array<char, 8192>& room) {
  std::size_t size = 0;
  for (char c = 0; ::read(descriptor, &c, 1) == 1 && c != '\n';) {
    if (size < room.size()) room[size++] = c;
  }
  return {room.data(), size};
}

// Writes the path of the file that is mapped at this address. Finds the path in /proc/self/maps, which has lines like:
//   7f00c000-7f00d000 r--p 00000000 08:01 1234                       /a/model.safetensors
void tell_file_at(std::uintptr_t address) {
  std::array<char, 8192> room;
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  for (std::string_view line = read_line(maps, room); !line.empty(); line = read_line(maps, room)) {
    std::uintptr_t begin = 0, end = 0;
    const char* last = line.data() + line.size();
    const char* dash = std::from_chars(line.data(), last, begin, 16).ptr;
    if (dash != last) std::from_chars(dash + 1, last, end, 16);
    const std::size_t path = line.find('/');
    if (address < begin || address >= end || path == std::string_view::npos) continue;
    // Replace characters that could hide text or change its direction.
    for (char& c : std::span(room).first(line.size())) c = c >= ' ' && c <= '~' ? c : '?';
    return write_error(line.substr(path));
  }
  write_error("a mapped file");
}

// Handles SIGBUS. Its code BUS_ADRERR means that a page could not be read from its file.
void on_bus_error(int signal, siginfo_t* info, void*) {
  if (info->si_code != BUS_ADRERR) {
    std::signal(signal, SIG_DFL);
    ::raise(signal);  // the signal is blocked until this handler returns, then terminates the program
    return;
  }
  static std::atomic_flag is_reported;
  while (is_reported.test_and_set()) ::pause();  // only the first thread reports, then terminates the program
  write_error(program_name);
  write_error(": ");
  tell_file_at(reinterpret_cast<std::uintptr_t>(info->si_addr));
  write_error(": has become shorter while it was read, or its disk fails\n");
  ::_exit(1);
}

}  // namespace

void prepare_memory(const char* program) {
#if defined(M_ARENA_MAX)
  rlimit space = {};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) ::mallopt(M_ARENA_MAX, 1);
#endif
  program_name = program;
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace encdec::cli

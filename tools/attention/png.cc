#include "attention/png.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace encdec::cli {
namespace {

constexpr const char* kProgram = "rsvg-convert";

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Returns an open file without a name. Unlike a pipe it takes any amount of data, so neither program can block the
// other.
File temporary_file() {
  File file(std::tmpfile());
  if (!file) throw std::system_error(errno, std::generic_category(), "temporary file");
  return file;
}

// Runs rsvg-convert with an option, and returns what it writes.
std::string convert(const std::string& input, std::string option) {
  const File from = temporary_file(), to = temporary_file();
  if (std::fwrite(input.data(), 1, input.size(), from.get()) != input.size() || std::fflush(from.get()) != 0) {
    throw std::system_error(errno, std::generic_category(), "temporary file");
  }
  std::rewind(from.get());

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, fileno(from.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, fileno(to.get()), STDOUT_FILENO);
  std::string program = kProgram;
  char* const arguments[] = {program.data(), option.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, kProgram, &files, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw BackendError(fmt::format("{}: {}", kProgram, std::generic_category().message(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) throw BackendError(fmt::format("{}: failed, expected an image", kProgram));

  std::string output(static_cast<std::size_t>(lseek(fileno(to.get()), 0, SEEK_END)), '\0');
  std::rewind(to.get());
  output.resize(std::fread(output.data(), 1, output.size(), to.get()));
  return output;
}

}  // namespace

std::string png_of(const std::string& svg) {
  return convert(svg, "--unlimited");  // else an attribute may have at most 10 MB
}

bool can_write_png() {
  try {
    convert("", "--version");
    return true;
  } catch (const BackendError&) {
    return false;
  }
}

}  // namespace encdec::cli

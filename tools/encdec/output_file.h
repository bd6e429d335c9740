#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace encdec::cli {

// The program that reads our standard output, such as `head`, has seen enough. Not worth a message.
class OutputClosed : public std::runtime_error {
 public:
  OutputClosed() : std::runtime_error("standard output was closed") {}
};

// Where a command writes: standard output, or a file. A file grows as PATH.partial and gets its name from commit(), so
// what stands under the name is always complete. Without a commit, what was written stays as PATH.partial, unless it is
// of no use in part or empty. Devices and pipes are written to directly: they cannot be renamed over.
// All functions throw FileError, naming the file and the system's reason, and OutputClosed.
class OutputFile {
 public:
  enum class Unfinished { keep, remove };

  // An empty path is standard output. The file is opened at once, so that a wrong path is known before the work.
  explicit OutputFile(const std::string& path, Unfinished unfinished = Unfinished::keep);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  // Everything written so far has left this process.
  void flush();
  // For regular files, instead of write(): makes the file this long, zeros where nothing is written.
  void resize(std::uint64_t bytes);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  // The end: nothing is written after it.
  void commit();

  // What is left behind without a commit: empty if nothing.
  std::string partial_path() const;

 private:
  [[noreturn]] void fail(std::string_view what) const;
  void write_all(std::string_view text);

  int descriptor_ = -1;
  std::string name_;
  std::string path_;     // final; empty where nothing is renamed
  std::string partial_;  // empty where nothing is renamed
  std::string buffer_;
  Unfinished unfinished_ = Unfinished::keep;
  bool has_content_ = false;
};

}  // namespace encdec::cli

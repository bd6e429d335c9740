#pragma once

#include <encdec/models/checkpoint/new_file.h>
#include <sys/types.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace encdec::cli {

// The program that reads our standard output, such as `head`, has seen enough. Not worth a message.
class OutputClosed : public std::runtime_error {
 public:
  OutputClosed() : std::runtime_error("standard output was closed") {}
};

// Returns the ending of a file's name in lower case: "png" for "map.PNG".
std::string name_ending(const std::string& path);

// Returns the device and inode of a regular file, nothing for any other path.
std::optional<std::pair<dev_t, ino_t>> file_id(const std::string& path);

// Where a command writes: standard output, or a file. A file grows as PATH.XXXXXX.partial and gets its name from
// commit(), so what stands under the name is always complete. Without a commit, what was written stays there, unless it
// is of no use in part or empty. Devices and pipes are written to directly: they cannot be renamed over.
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
  // A regular file, to write in any order instead of write() and flush().
  NewFile& regular();

  // The end: nothing is written after it.
  void commit();

  // What is left behind without a commit: empty if nothing.
  std::string partial_path() const;

 private:
  [[noreturn]] void fail(std::string_view what) const;
  void write_directly(std::string_view text);

  std::string name_;
  std::string buffer_;
  std::optional<NewFile> file_;
  int descriptor_ = -1;  // what is written directly, where there is no file
};

}  // namespace encdec::cli

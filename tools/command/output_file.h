#pragma once

#include <encdec/models/checkpoint/new_file.h>
#include <sys/types.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace encdec::cli {

// Thrown if the reader of standard output, such as `head`, has closed it. The command then ends without a message.
class OutputClosed : public std::runtime_error {
 public:
  OutputClosed() : std::runtime_error("standard output was closed") {}
};

// Returns the ending of a file's name in lower case: "svg" for "map.SVG".
std::string name_ending(const std::string& path);

// Returns the device and inode of a regular file; unset for any other path.
std::optional<std::pair<dev_t, ino_t>> file_id(const std::string& path);

// Returns true if a rename must not replace `path`: a device, a pipe, a folder, or a name of an open file, such as
// /dev/stdout.
bool is_written_directly(const std::string& path);

// The output of a command: standard output or a file.
// A file is written as PATH.XXXXXX.partial and renamed to PATH by commit(), so that a file named PATH is complete.
// Without commit() the partial file stays, unless it is empty or Unfinished::remove was given.
// Devices and pipes are written directly, because a rename would replace them.
// All functions throw FileError, naming the file and the system's reason, and OutputClosed.
// Order of calls: write* commit, or regular commit; flush() at any time before commit().
class OutputFile {
 public:
  enum class Unfinished { keep, remove };  // treatment of a partial file without commit()

  // Opens the file, or standard output if `path` is empty. Opens at once, so that a wrong path fails before the work.
  explicit OutputFile(const std::string& path, Unfinished unfinished = Unfinished::keep);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  // Passes everything written so far to the operating system.
  void flush();
  // Returns the file, to write to any position of it instead of using write(). Throws FileError if it is not a regular
  // file.
  NewFile& regular();

  // Completes the output.
  void commit();

  // Returns the path of the partial file; empty if nothing is written to one.
  std::string partial_path() const;

 private:
  [[noreturn]] void fail(std::string_view what) const;
  void write_directly(std::string_view text);

  std::string name_;
  std::string buffer_;
  std::optional<NewFile> file_;
  int descriptor_ = -1;  // output that is written directly; -1 if file_ is set
};

}  // namespace encdec::cli

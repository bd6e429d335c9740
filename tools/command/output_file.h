#pragma once

#include <encdec/models/checkpoint/new_file.h>
#include <sys/types.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace encdec::cli {

// Thrown if the reader of standard output, such as `head`, has closed the pipe. The command ends without a message.
class OutputClosed : public std::runtime_error {
 public:
  OutputClosed() : std::runtime_error("standard output was closed") {}
};

// Returns a file's extension in lower case: "svg" for "map.SVG".
std::string name_ending(const std::string& path);

// Returns the device and inode of a regular file; unset for any other path.
std::optional<std::pair<dev_t, ino_t>> file_id(const std::string& path);

// Returns true if a rename must not replace `path`: a device, pipe, folder, or open file such as /dev/stdout.
bool is_written_directly(const std::string& path);

// The output of a command: standard output or a file. A file is written as PATH.XXXXXX.partial and renamed to PATH by
// commit(). Without commit() the partial file stays, unless it is empty or Unfinished::remove is given. Devices and
// pipes are written directly. All functions throw OutputClosed, and FileError with the operating system's reason.
// Order of calls: write* commit | regular commit; flush() at any time before commit()
class OutputFile {
 public:
  enum class Unfinished { keep, remove };  // treatment of a partial file without commit()

  // Opens the file at once, so that a wrong path fails before the work. If `path` is empty, opens standard output.
  explicit OutputFile(const std::string& path, Unfinished unfinished = Unfinished::keep);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  // Passes everything written so far to the operating system.
  void flush();
  // Returns the file for writes at any offset, instead of write(). Throws FileError if it is not a regular file.
  NewFile& regular();

  void commit();

  // Returns the path of the partial file; empty if there is no partial file or if the file is empty.
  std::string partial_path() const;

 private:
  [[noreturn]] void fail(std::string_view what) const;
  void write_directly(std::string_view text);

  std::string name_;
  std::string buffer_;
  std::optional<NewFile> file_;
  int descriptor_ = -1;  // for direct writes; -1 if file_ is set
};

}  // namespace encdec::cli

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "encdec/shard.h"

namespace encdec::cli {

// The lines of a file or of standard input, read as they are needed: memory does not grow with the file.
// A line ends with "\n" or "\r\n", which are not part of it; the last one may go without.
class LineReader {
 public:
  // Longer lines are an error: a file without line ends must not fill the memory.
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

  // An empty path is standard input. Throws FileError if the file cannot be opened.
  explicit LineReader(const std::string& path);
  // Only the lines of a shard of a regular file, which count from 1.
  LineReader(const std::string& path, const Shard& shard);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // False at the end. Throws FileError, and Interrupted if a signal comes while it waits for input.
  bool next(std::string& line);
  // True if next() would return at once: a line has arrived, or the end.
  bool ready();

  const std::string& name() const { return name_; }
  // "input.txt:3" for the line that next() gave last.
  std::string position() const;

  // Of all that next() gave so far; bytes with the line ends.
  std::int64_t lines() const { return line_number_; }
  std::int64_t bytes() const { return bytes_; }
  // Of the whole input, where it is a regular file.
  std::optional<std::int64_t> total_bytes() const { return total_bytes_; }
  // What part of that so many bytes are.
  std::optional<double> fraction(std::int64_t bytes) const;

 private:
  bool has_line();
  void fill();

  int descriptor_ = -1;
  std::string name_;
  std::int64_t line_number_ = 0;
  std::int64_t bytes_ = 0;
  std::optional<std::int64_t> total_bytes_;
  std::int64_t end_bytes_ = std::numeric_limits<std::int64_t>::max();  // lines that begin behind are not read

  std::vector<char> buffer_;
  std::size_t begin_ = 0;    // of the bytes that are not lines yet
  std::size_t scanned_ = 0;  // no line ends before this one
  bool at_end_ = false;
};

// Two files whose lines belong together, one by one: sources and their targets or prefixes.
class PairedLines {
 public:
  // Keeps references to the readers.
  PairedLines(LineReader& first, LineReader& second) : first_(first), second_(second) {}

  // False at the end of both. Throws InputError if one ends before the other, and as LineReader::next() does.
  bool next(std::string& first, std::string& second);
  // True if next() would return at once.
  bool ready() { return first_.ready() && second_.ready(); }

 private:
  LineReader& first_;
  LineReader& second_;
};

}  // namespace encdec::cli

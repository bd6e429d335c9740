#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encdec/shard.h"

namespace encdec::cli {

// A reader of the lines of a file or of standard input. Reads on demand: memory does not grow with the file.
// Lines end with "\n" or "\r\n" and are returned without this ending. The last line may lack it.
class LineReader {
 public:
  // Maximum length of a line. Longer lines are an error: a file without line ends must not fill the memory.
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

  // Opens the file, or standard input if `path` is empty. Throws FileError if the file cannot be opened.
  explicit LineReader(const std::string& path);
  // Reads only the lines of `shard`; line numbers count from the first of them. Throws FileError unless `path` is a
  // regular file. A shard with number 0 is the whole input.
  LineReader(const std::string& path, const Shard& shard);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Reads the next line. Returns false at the end of the input. Throws FileError, and Interrupted if SIGINT or SIGTERM
  // arrives during the wait for input.
  bool next(std::string& line);
  // Returns true if next() would return without waiting: a whole line has arrived, or the end of the input.
  bool ready();

  const std::string& name() const { return name_; }
  // Returns the position of the last line that next() read: "input.txt:3".
  std::string position() const;

  // Returns the number of lines that next() has read, and their bytes, line ends included.
  std::int64_t lines() const { return line_number_; }
  std::int64_t bytes() const { return bytes_; }
  // Returns the bytes of the whole input, or of the shard. Unset if the input is not a regular file.
  std::optional<std::int64_t> total_bytes() const { return total_bytes_; }
  // Returns `bytes` / total_bytes(). Unset if the total is unknown or 0.
  std::optional<double> fraction(std::int64_t bytes) const;

 private:
  bool has_line();
  void fill();

  int descriptor_ = -1;
  std::string name_;
  std::int64_t line_number_ = 0;
  std::int64_t bytes_ = 0;
  std::optional<std::int64_t> total_bytes_;
  std::int64_t end_bytes_ = std::numeric_limits<std::int64_t>::max();  // lines that begin here or later are not read

  std::vector<char> buffer_;
  std::size_t begin_ = 0;    // index in buffer_ of the next line
  std::size_t scanned_ = 0;  // buffer_ has no line end from begin_ up to here
  bool at_end_ = false;
};

// A reader of several files in parallel, line by line: sources and their targets, prefixes or drafts.
class ParallelLines {
 public:
  // REQUIRES: the readers outlive this object.
  explicit ParallelLines(std::vector<LineReader*> readers) : readers_(std::move(readers)) {}

  // Reads the next line of all files. Returns false at the end of all. Throws InputError if one file has fewer lines
  // than another, and the errors of LineReader::next(). REQUIRES: one string for each reader.
  bool next(std::initializer_list<std::string*> lines);
  // Returns true if next() would return without waiting.
  bool ready() {
    return std::ranges::all_of(readers_, [](LineReader* reader) { return reader->ready(); });
  }

 private:
  std::vector<LineReader*> readers_;
};

}  // namespace encdec::cli

#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace encdec::cli {

// One of N parts of an input file, for one of N independent processes: the lines that begin in the I-th of N equal
// ranges of the file's bytes. The outputs of all parts in order are the output of the whole file.
struct Shard {
  int number = 0;  // I, from 1; 0 for the whole input
  int count = 0;   // N

  // Returns the path of the part's output: "OUTPUT-00002-of-00016". `whole` is "OUTPUT".
  std::string output(const std::string& whole) const;
};

// Parses "I/N". Throws UsageError.
Shard parse_shard(const std::string& text);

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

// A record of the input and settings of a shard's output, in the file "OUTPUT-00002-of-00016.json" in the folder of the
// output. The file exists only if the shard is complete. It has a hash of the shard's lines.
class ShardManifest {
 public:
  // `output` is the path of the shard's output. `settings`, a JSON object, holds everything that the output depends on
  // except the lines. Throws FileError.
  ShardManifest(const Shard& shard, const std::string& input, const std::string& output,
                const nlohmann::ordered_json& settings);

  // Returns true if the output exists and is complete for this input and these settings.
  bool is_done() const;
  // Writes the file, which marks the shard as complete. `lines` is the number of lines of the output.
  void write(std::int64_t lines) const;

 private:
  std::string output_;
  std::string description_;  // JSON
};

}  // namespace encdec::cli

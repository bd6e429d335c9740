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

// Part I of N of an input file, for N independent processes: the lines that begin in the I-th of N equal byte ranges.
struct Shard {
  int number = 0;  // I, from 1; 0 for the whole input
  int count = 0;   // N

  // Returns the path of the part's output: "OUTPUT-00002-of-00016" if `whole` is "OUTPUT".
  std::string output(const std::string& whole) const;
};

// Parses "I/N". Throws UsageError.
Shard parse_shard(const std::string& text);

// Reads lines from a file or standard input, in constant memory. Removes the line end, "\n" or "\r\n".
class LineReader {
 public:
  // A longer line is an error, so that a file without line ends cannot fill the memory.
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

  // Opens the file, or standard input if `path` is empty. Throws FileError if that fails.
  explicit LineReader(const std::string& path);
  // Reads only the lines of `shard`, and numbers them from 1. Throws FileError if a shard's file is not a regular file.
  LineReader(const std::string& path, const Shard& shard);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Reads the next line. Returns false at the end of the input. Throws FileError, and Interrupted as wait_for_input().
  bool next(std::string& line);
  // Returns true if next() would not wait: a whole line or the end of the input has arrived.
  bool ready();

  const std::string& name() const { return name_; }
  // Returns the position of the last line read: "input.txt:3".
  std::string position() const;

  // Return the number of lines read, and the bytes of these lines, including line ends.
  std::int64_t lines() const { return line_number_; }
  std::int64_t bytes() const { return bytes_; }
  // Returns the bytes of the whole input or of the shard; unset if the input is not a regular file.
  std::optional<std::int64_t> total_bytes() const { return total_bytes_; }
  // Returns `bytes` / total_bytes(); unset if the total is unknown or 0.
  std::optional<double> fraction(std::int64_t bytes) const;

 private:
  bool has_line();
  void fill();

  int descriptor_ = -1;
  std::string name_;
  std::int64_t line_number_ = 0;
  std::int64_t bytes_ = 0;
  std::optional<std::int64_t> total_bytes_;
  std::int64_t end_bytes_ = std::numeric_limits<std::int64_t>::max();  // bytes_ at the end of the shard

  std::vector<char> buffer_;
  std::size_t begin_ = 0;    // offset of the next line in buffer_
  std::size_t scanned_ = 0;  // there is no line end from begin_ to this offset
  bool at_end_ = false;
};

// Reads several files in parallel, line by line: sources and their targets, prefixes or drafts.
class ParallelLines {
 public:
  // REQUIRES: the readers outlive this object.
  explicit ParallelLines(std::vector<LineReader*> readers) : readers_(std::move(readers)) {}

  // Reads a line of each file, as LineReader::next() does. Throws InputError if the files have different numbers of
  // lines. REQUIRES: one string for each reader.
  bool next(std::initializer_list<std::string*> lines);
  bool ready() {
    return std::ranges::all_of(readers_, [](LineReader* reader) { return reader->ready(); });
  }

 private:
  std::vector<LineReader*> readers_;
};

// The file "OUTPUT-00002-of-00016.json", which records the settings of a shard's output and a hash of the shard's input
// lines. The file exists only if the shard is complete.
class ShardManifest {
 public:
  // `settings` is a JSON object with everything on which the output at path `output` depends, except the lines.
  ShardManifest(const Shard& shard, const std::string& input, const std::string& output,
                const nlohmann::ordered_json& settings);

  // Returns true if the output exists and is complete for this input and these settings.
  bool is_done() const;
  // Marks the shard as complete. `lines` is the number of output lines.
  void write(std::int64_t lines) const;

 private:
  std::string output_;
  std::string description_;  // JSON
};

}  // namespace encdec::cli

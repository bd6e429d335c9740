#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

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

// A record of the input and settings of a shard's output, in the file "OUTPUT-00002-of-00016.json" beside the output.
// The file exists only if the shard is complete. It has a hash of the shard's lines.
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

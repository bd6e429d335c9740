#pragma once

#include <encdec/models/checkpoint/written_json_fwd.h>

#include <cstdint>
#include <string>

namespace encdec::cli {

// The part of an input file that one of many processes does, without any of them knowing of the others: the lines that
// begin in the I-th of N equal parts of its bytes. The outputs of all, one after the other, are that of the whole.
struct Shard {
  int number = 0;  // I, from 1; 0 for the whole input
  int count = 0;   // N

  // "2/16"
  std::string name() const;
  // Where its output goes: "OUTPUT-00002-of-00016".
  std::string output(const std::string& whole) const;
};

// "I/N"; throws UsageError.
Shard parse_shard(const std::string& text);

// What a shard's output was made of, in a file beside it, "OUTPUT-00002-of-00016.json", that is there when the shard is
// done. It names the shard's lines by their hash.
class ShardManifest {
 public:
  // `output` is the shard's; `settings`, a JSON object, is what the output depends on beside the lines. Throws
  // FileError.
  ShardManifest(const Shard& shard, const std::string& input, const std::string& output, const WrittenJson& settings);

  // Whether it is done, with this input and these settings, and its output is there.
  bool is_done() const;
  // It is done now, with so many lines.
  void write(std::int64_t lines) const;

 private:
  std::string output_;
  std::string description_;  // JSON
};

}  // namespace encdec::cli

#pragma once

#include <encdec/models/model.h>

#include <string>

namespace encdec::cli {

// What `generate --json` tells of a hypothesis beside its token ids and score.
struct JsonFields {
  bool text = false;
  bool token_scores = false;
  bool top_log_probs = false;
};

// What --stats tells; its tokens_per_second are generated tokens over generate_seconds.
struct Stats {
  GenerateProgress work;
  double load_seconds = 0;
  double generate_seconds = 0;               // in calls of generate: texts to ids, encoding, decoding, ids to texts
  double total_seconds = 0;                  // loading, reading and writing too
  std::optional<double> audio_seconds = {};  // of recordings that were transcribed
};

// JSON objects on one line, without the line end. Numbers have the shortest digits that stand for the same float; what
// is not a number is null, and bytes that are not UTF-8 are replaced.
std::string to_json(const GenerateResult& result, const JsonFields& fields);
std::string to_json(const ScoreResult& result);
std::string to_json(const Stats& stats);

}  // namespace encdec::cli

#pragma once

#include <encdec/models/model.h>

#include <string>

namespace encdec::cli {

// Optional members of a hypothesis in `generate --json`. Token ids and score are always written.
struct JsonFields {
  bool text = false;
  bool token_scores = false;
  bool top_log_probs = false;
};

// Statistics for --stats. tokens_per_second := generated tokens / generate_seconds.
struct Stats {
  GenerateProgress work;
  double load_seconds = 0;
  double generate_seconds = 0;               // time in calls of generate, including tokenizing and detokenizing
  double total_seconds = 0;                  // time of the command, with loading, reading and writing
  std::optional<double> audio_seconds = {};  // length of the transcribed recordings
};

// Return a JSON object on one line. NaN and infinity become null. Bytes that are not UTF-8 are replaced.
std::string to_json(const GenerateResult& result, const JsonFields& fields);
std::string to_json(const ScoreResult& result);
std::string to_json(const Stats& stats);
// Adds the counts of draft tokens.
void add_drafts(const DraftCounts& drafts, nlohmann::ordered_json& object);

}  // namespace encdec::cli

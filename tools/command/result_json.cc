#include "command/result_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/json_arrays.h"
#include "encdec/engine/base/machine.h"

namespace encdec::cli {

using Json = nlohmann::ordered_json;

std::string to_json(const GenerateResult& result, const JsonFields& fields) {
  Json hypotheses = Json::array();
  for (const Hypothesis& hypothesis : result.hypotheses) {
    Json object = Json::object();
    if (fields.text) object["text"] = hypothesis.text;
    object["token_ids"] = hypothesis.token_ids;
    object["score"] = hypothesis.score;
    if (fields.token_scores) object["token_scores"] = to_array(hypothesis.token_scores);
    if (fields.top_log_probs) {
      Json& tokens = object["top_log_probs"] = Json::array();
      for (const auto& token : hypothesis.top_log_probs) tokens.push_back(to_array(std::span(token)));
    }
    hypotheses.push_back(std::move(object));
  }
  return to_text({{"hypotheses", std::move(hypotheses)}});
}

std::string to_json(const ScoreResult& result) {
  return to_text({{"score", result.score}, {"token_scores", to_array(result.token_scores)}});
}

void add_drafts(const DraftCounts& drafts, Json& object) {
  object["draft_tokens"] = drafts.proposed;
  object["accepted_tokens"] = drafts.accepted;
  object["rounds"] = drafts.rounds;
  // Each round yields its accepted draft tokens and one more token.
  const auto tokens = static_cast<double>(drafts.accepted + drafts.rounds);
  object["tokens_per_round"] = drafts.rounds > 0 ? tokens / static_cast<double>(drafts.rounds) : 0.0;
}

std::string to_json(const Stats& stats) {
  const double seconds = stats.generate_seconds;
  Json object = {{"load_seconds", stats.load_seconds},
                 {"encode_seconds", stats.work.encode_seconds},
                 {"decode_seconds", stats.work.decode_seconds},
                 {"total_seconds", stats.total_seconds},
                 {"source_tokens", stats.work.source_tokens},
                 {"generated_tokens", stats.work.generated_tokens},
                 {"tokens_per_second", seconds > 0 ? static_cast<double>(stats.work.generated_tokens) / seconds : 0.0},
                 {"peak_resident_bytes", peak_resident_bytes()}};
  add_drafts(stats.work.drafts, object);
  if (stats.audio_seconds) {
    object["audio_seconds"] = *stats.audio_seconds;
    object["audio_seconds_per_second"] = seconds > 0 ? *stats.audio_seconds / seconds : 0.0;
  }
  return to_text(object);
}

}  // namespace encdec::cli

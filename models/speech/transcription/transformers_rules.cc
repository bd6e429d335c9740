// transformers: models/whisper/generation_whisper.py, generation/utils.py, models/whisper/tokenization_whisper.py.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "encdec/models/speech/transcription/alignment_reader.h"
#include "encdec/models/speech/transcription/whisper_rules.h"

namespace encdec {
namespace {

// Returns the seconds of the whole timestamp steps in `frames`, computed in float32. Rounding may lose the last step of
// an even number of frames.
double step_seconds(std::size_t frames) {
  return static_cast<int>(static_cast<float>(frames) * 0.01F / 0.02F) * WhisperTokens::kTimestampSeconds;
}

class TransformersRules final : public WhisperRules {
  void check(const TranscribeOptions& options) const override {
    if (!options.hallucination_silence_threshold) return;
    throw ConfigError("hallucination_silence_threshold with the rules of transformers, expected those of openai");
  }

  // Without generation_config.json or its settings in config.json, those of openai are used.
  BannedTokens banned(const WhisperFacts& facts, const TranscribeOptions& options) const override {
    if (!facts.generation) return openai_rules().banned(facts, options);
    return {.not_speech = facts.generation->suppressed,
            .first = facts.generation->suppressed_first,
            .max_initial_timestamp = facts.generation->max_initial_timestamp};
  }

  std::size_t max_prompt_text(std::size_t context) const override {
    constexpr std::size_t kOthers = 6;  // special tokens of the prompt, and one token to generate
    return context - kOthers;
  }
  std::size_t max_new_tokens(std::size_t context, std::size_t prompt) const override {
    return context - std::min(context - 1, prompt);
  }

  // If there is no text, returns the initial prompt again.
  TokenIds previous_text(const PromptText& text, std::size_t capacity,
                         const TranscribeOptions& options) const override {
    return text.last(capacity, options.carry_initial_prompt || text.begin == text.tokens.size());
  }

  void start(PromptText& text, const TranscribeOptions& options) const override {
    if (!options.condition_on_previous_text) text.begin = text.tokens.size();
  }
  // After a window of low temperature prompts contain all text again.
  void update(PromptText& text, const DecodedWindow& decoded, const TranscribeOptions& options) const override {
    const bool is_told =
        options.condition_on_previous_text && decoded.temperature < options.prompt_reset_on_temperature;
    text.begin = is_told ? 0 : text.tokens.size();
  }

  float rank_normalizer(float of_all, float /*of_allowed*/) const override { return of_all; }
  std::size_t candidates(std::size_t beams) const override { return 2 * beams; }
  bool finishes_at_limit() const override { return true; }
  bool keeps(std::size_t rank, std::size_t /*finished*/, const TranscribeOptions& options) const override {
    return rank < static_cast<std::size_t>(options.beam_size);
  }

  // Keeps the best beam_size finished sequences. The search goes on while there are fewer, or while the best running
  // sequence is better than the worst of them.
  bool is_over(std::vector<WindowSequence>& finished, std::span<const WindowSequence> running,
               const TranscribeOptions& options) const override {
    const auto score = [&](const WindowSequence& sequence) { return final_score(sequence, options); };
    const auto beams = static_cast<std::size_t>(options.beam_size);
    std::ranges::stable_sort(finished, std::greater(), score);
    if (finished.size() < beams) return false;
    finished.resize(beams);
    return running.empty() || score(running.front()) <= score(finished.back());
  }

  // The end token counts.
  std::size_t counted_tokens(const WindowSequence& sequence) const override {
    return sequence.tokens.size() + (sequence.has_ended ? 1 : 0);
  }
  double final_score(const WindowSequence& sequence, const TranscribeOptions& options) const override {
    const auto length = static_cast<double>(counted_tokens(sequence));
    return double{sequence.score} / std::pow(length, options.length_penalty.value_or(1));
  }

  // The token ids are compressed, not the text.
  std::string compressed(const WindowSequence& sequence, const TranscriptionTask& task) const override {
    const auto vocabulary = static_cast<std::uint32_t>(task.network().config.decoder.vocabulary);
    const int width = (std::bit_width(vocabulary) - 1) / 8 + 1;
    std::string bytes;
    const auto add = [&](std::int32_t token) {
      for (int i = 0; i < width; ++i) bytes += static_cast<char>(token >> (8 * i));
    };
    std::ranges::for_each(sequence.tokens, add);
    if (sequence.has_ended) add(task.tokens().end_of_text);
    return bytes;
  }

  std::size_t padded_frames(const WhisperFacts& facts) const override { return facts.window_frames(); }

  void read_times(Session& session, int source, const TranscriptionTask& task, std::int32_t /*language*/,
                  const WindowPlace& place, const TokenIds& prompt, DecodedWindow& decoded) const override {
    decoded.timings = read_token_times(session, source, task, place, prompt, decoded);
  }

  CutWindow cut(const DecodedWindow& decoded, const WindowPlace& place, const WhisperTokens& tokens) const override {
    return cut_window(decoded, place, tokens, {.duration = step_seconds(place.frames), .keeps_pair = true});
  }

  bool add_words(FinishedWindow& window, const TranscriptionTask& task, double& last_speech) const override {
    const WordTimeOptions options = task.word_options(last_speech);
    std::span<const TokenTiming> timings = window.decoded.timings;
    for (TranscriptSegment& segment : window.cut.segments) {
      add_token_words(segment, timings,
                      split_words(task, window.language, text_tokens({&segment, 1}, options.end_of_text)), options);
      timings = timings.subspan(segment.tokens.size());
    }
    return true;
  }

  // A segment may end with two timestamps; prompts get only the first.
  std::size_t close(TranscriptSegment& segment, const WhisperTokens& tokens) const override {
    const TokenIds& ids = segment.tokens;
    const bool has_pair = ids.size() > 2 && tokens.is_timestamp(ids[ids.size() - 2]);
    return ids.size() - (has_pair ? 1 : 0);
  }
};

}  // namespace

const WhisperRules& transformers_rules() {
  static const TransformersRules rules;
  return rules;
}

}  // namespace encdec

// openai/whisper: transcribe.py, decoding.py, timing.py.
#include <algorithm>
#include <cmath>

#include "encdec/models/speech/transcript/hallucination.h"
#include "encdec/models/speech/transcription/alignment_reader.h"
#include "encdec/models/speech/transcription/whisper_rules.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// A text within this many seconds of an edge of the window counts as next to silence there.
constexpr double kWindowEdge = 2.0;

// Drops segments that are probably hallucinated and next to silence, and moves the next window past the silence.
// Returns false if the whole window is dropped; the next window then begins at its first segment with words.
bool skip_hallucinations(FinishedWindow& window, double threshold, std::size_t window_frames, double last_speech) {
  std::vector<TranscriptSegment>& segments = window.cut.segments;
  const WindowPlace& place = window.place;
  const double begin = place.start();
  const double window_end = begin + WindowPlace{.first = place.first, .frames = window_frames}.seconds();
  if (!window.cut.ends_in_time) {
    const auto end = speech_end(segments);
    if (end && *end > begin) {
      window.seek = window_end - *end > threshold ? frame_at(*end) : place.first + place.frames;
    }
  }
  const TranscriptSegment* first = next_words_segment(segments);
  if (first != nullptr && is_segment_anomaly(*first)) {
    const double gap = first->start - begin;
    if (gap > threshold) {
      window.seek = place.first + frame_at(gap);
      return false;
    }
  }
  double last_end = last_speech;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const TranscriptSegment& segment = segments[i];
    if (segment.words.empty()) continue;
    if (is_segment_anomaly(segment)) {
      const TranscriptSegment* next = next_words_segment(std::span(segments).subspan(i + 1));
      const double next_start = next != nullptr ? next->words.front().start : begin + place.seconds();
      const bool silence_before =
          segment.start - last_end > threshold || segment.start < threshold || segment.start - begin < kWindowEdge;
      const bool silence_after = next_start - segment.end > threshold ||
                                 (next != nullptr && is_segment_anomaly(*next)) ||
                                 window_end - segment.end < kWindowEdge;
      if (silence_before && silence_after) {
        window.seek = frame_at(std::max(begin + 1, segment.start));
        const double content_end = static_cast<double>(window.content_frames) / LogMel::kFramesPerSecond;
        if (content_end - segment.end < threshold) window.seek = window.content_frames;
        segments.resize(i);
        return true;
      }
    }
    last_end = segment.end;
  }
  return true;
}

class OpenAiRules final : public WhisperRules {
  void check(const TranscribeOptions& /*options*/) const override {}

  BannedTokens banned(const WhisperFacts& facts, const TranscribeOptions& options) const override {
    const WhisperTokens& tokens = facts.tokens;
    BannedTokens banned{.not_speech = facts.non_speech,
                        .always = {tokens.transcribe, tokens.translate, tokens.start, tokens.start_of_prev,
                                   tokens.start_of_lm, tokens.no_speech},
                        .first = tokens.blank()};
    banned.first.push_back(tokens.end_of_text);
    if (const auto seconds = options.max_initial_timestamp) {
      banned.max_initial_timestamp =
          static_cast<std::int32_t>(std::lround(*seconds / WhisperTokens::kTimestampSeconds));
    }
    return banned;
  }

  std::size_t max_prompt_text(std::size_t context) const override { return context / 2 - 1; }

  // The last token, which the decoder never reads, may exceed the context.
  std::size_t max_new_tokens(std::size_t context, std::size_t prompt) const override {
    return std::min(context / 2, context - std::min(context - 1, prompt) + 1);
  }

  // If the initial prompt takes all the space, returns all of the text; the front of the prompt is cut off later.
  TokenIds previous_text(const PromptText& text, std::size_t capacity,
                         const TranscribeOptions& options) const override {
    if (!options.carry_initial_prompt) return text.last(capacity, false);
    return text.last(capacity > text.initial ? capacity - text.initial : text.tokens.size(), true);
  }

  void start(PromptText& /*text*/, const TranscribeOptions& /*options*/) const override {}

  // Text that was excluded once stays excluded.
  void update(PromptText& text, const DecodedWindow& decoded, const TranscribeOptions& options) const override {
    if (decoded.is_silence(options)) return;
    const bool is_told =
        options.condition_on_previous_text && decoded.temperature <= options.prompt_reset_on_temperature;
    if (!is_told) text.begin = text.tokens.size();
  }

  float rank_normalizer(float /*of_all*/, float of_allowed) const override { return of_allowed; }
  std::size_t candidates(std::size_t beams) const override { return beams + 1; }
  bool finishes_at_limit() const override { return false; }

  // Returns how many sequences to finish: beam_size * patience.
  static std::size_t pool(const TranscribeOptions& options) {
    return static_cast<std::size_t>(std::max(std::lrint(options.beam_size * options.patience), 1L));
  }
  bool keeps(std::size_t /*rank*/, std::size_t finished, const TranscribeOptions& options) const override {
    return finished < pool(options);
  }
  bool is_over(std::vector<WindowSequence>& finished, std::span<const WindowSequence> /*running*/,
               const TranscribeOptions& options) const override {
    return finished.size() >= pool(options);
  }

  double final_score(const WindowSequence& sequence, const TranscribeOptions& options) const override {
    const auto length = static_cast<double>(sequence.tokens.size());
    const std::optional<double> penalty = options.length_penalty;
    return double{sequence.sum} / (penalty ? std::pow((5 + length) / 6, *penalty) : length);
  }
  std::size_t counted_tokens(const WindowSequence& sequence) const override { return sequence.tokens.size() + 1; }
  std::string compressed(const WindowSequence& sequence, const TranscriptionTask& task) const override {
    return std::string(strip(task.tokens().text(sequence.tokens)));
  }

  std::size_t padded_frames(const WhisperFacts& /*facts*/) const override { return 0; }

  void read_times(Session& session, int source, const TranscriptionTask& task, std::int32_t language,
                  const WindowPlace& place, const TokenIds& /*prompt*/, DecodedWindow& decoded) const override {
    const CutWindow window = cut(decoded, place, task.tokens());
    decoded.words = read_word_times(session, source, task, language, place,
                                    text_tokens(window.segments, task.tokens().end_of_text));
  }

  CutWindow cut(const DecodedWindow& decoded, const WindowPlace& place, const WhisperTokens& tokens) const override {
    return cut_window(decoded, place, tokens, {.duration = place.seconds()});
  }

  bool add_words(FinishedWindow& window, const TranscriptionTask& task, double& last_speech) const override {
    std::vector<TranscriptSegment>& segments = window.cut.segments;
    const TranscribeOptions& options = task.options();
    add_word_timestamps(segments, window.decoded.words, task.word_options(last_speech));
    if (!window.cut.ends_in_time) {
      const auto end = speech_end(segments);
      if (end && *end > window.place.start()) window.seek = frame_at(*end);
    }
    if (options.hallucination_silence_threshold &&
        !skip_hallucinations(window, *options.hallucination_silence_threshold, task.facts().window_frames(),
                             last_speech)) {
      return false;
    }
    if (const auto end = speech_end(segments)) last_speech = *end;
    return true;
  }

  // A segment without text or duration has no text.
  std::size_t close(TranscriptSegment& segment, const WhisperTokens& /*tokens*/) const override {
    if (segment.start == segment.end || strip(segment.text).empty()) {
      segment.text.clear();
      segment.tokens.clear();
      segment.words.clear();
    }
    return segment.tokens.size();
  }
};

}  // namespace

const WhisperRules& openai_rules() {
  static const OpenAiRules rules;
  return rules;
}

}  // namespace encdec

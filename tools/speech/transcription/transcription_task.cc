#include "encdec/speech/transcription/transcription_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/families/whisper.h"
#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/generation/generation_settings.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// Returns `options`. Throws ConfigError if an option is set without another option that it requires.
const TranscribeOptions& checked(const TranscribeOptions& options) {
  if (options.hallucination_silence_threshold && !options.word_timestamps) {
    throw ConfigError("hallucination_silence_threshold without word_timestamps, expected both: it needs word times");
  }
  return options;
}

// Returns the tokens of " " + `text`, for use as previous text. Throws TokenizerError if `text` is not UTF-8.
TokenIds prompt_tokens(const WhisperTokens& tokens, const std::string& text) {
  check_text(text);
  return text.empty() ? TokenIds() : tokens.encode(std::string(" ").append(strip(text)));
}

// Returns the settings that the request queue and the base class Search need: number of sequences, length,
// seed. All logits processors are off, because WindowAttempt applies Whisper's rules.
SearchRules search_rules_of(const WhisperFacts& facts, const TranscribeOptions& options) {
  GenerateOptions settings = with_neutral_values({});
  settings.num_beams = options.beam_size;
  settings.do_sample = std::ranges::any_of(options.temperatures, [](double temperature) { return temperature > 0; });
  settings.num_return_sequences = options.best_of;
  settings.eos_tokens = TokenIds{facts.tokens.end_of_text};
  settings.max_new_tokens = static_cast<int>(facts.context / 2);
  settings.seed = options.seed;
  return SearchRules(std::move(settings));
}

}  // namespace

TranscriptionTask::TranscriptionTask(const ModelParts& parts, const WhisperFacts& facts,
                                     const TranscribeOptions& options)
    : RecordingTask(checked(options)),
      parts_(parts),
      facts_(facts),
      search_rules_(std::make_shared<const SearchRules>(search_rules_of(facts, options))) {
  const WhisperTokens& tokens = facts.tokens;
  if (!options.language.empty()) {
    language_ = tokens.language(options.language);
    if (!language_ || (!tokens.is_multilingual && tokens.code_of(*language_) != "en")) {
      refuse<ConfigError>(parts.origin, "language '{}' is not known, expected one of {}", printable(options.language),
                          fmt::join(tokens.language_codes(), ", "));
    }
  }
  if (!tokens.is_multilingual) {
    if (options.task == SpeechTask::translate) {
      refuse<ConfigError>(parts.origin, "knows only English, expected a multilingual model to translate");
    }
    language_ = tokens.start;  // unused: the prompt of an English-only model has no language token
  }
  initial_prompt_ = prompt_tokens(tokens, options.initial_prompt);
  hotwords_ = prompt_tokens(tokens, options.hotwords);
  if (hotwords_.size() > max_previous_tokens()) hotwords_.resize(max_previous_tokens());

  // Collect the suppressed tokens like openai/whisper (decoding.py, SuppressTokens, SuppressBlank).
  suppressed_ = {tokens.transcribe,    tokens.translate,   tokens.start,
                 tokens.start_of_prev, tokens.start_of_lm, tokens.no_speech};
  suppressed_first_ = tokens.blank();
  suppressed_first_.push_back(tokens.end_of_text);
  for (const std::int32_t token : options.suppress_tokens) {
    if (token == -1) {
      suppressed_.insert(suppressed_.end(), facts.non_speech.begin(), facts.non_speech.end());
    } else if (token < 0 || token >= parts.network.config.decoder.vocabulary) {
      throw ConfigError(fmt::format("suppress_tokens: {}, expected -1 or 0 to {}", token,
                                    parts.network.config.decoder.vocabulary - 1));
    } else {
      suppressed_.push_back(token);
    }
  }
}

// The decoder never reads the last token. So the last token needs no position.
std::size_t TranscriptionTask::max_new_tokens(std::size_t prompt) const {
  const auto context = static_cast<std::size_t>(facts_.context);
  return std::min(context / 2, context - std::min(context - 1, prompt) + 1);
}

DecodeJob TranscriptionTask::job(Tensor frames, TokenIds prompt) const {
  const auto rows = static_cast<std::size_t>(frames.empty() ? 0 : frames.rows() / kWhisperFramesPerRow);
  DecodeJob job{.prompt = {.frames = std::move(frames), .frame_rows = rows, .target = std::move(prompt), .number = 1},
                .rules = search_rules_};
  job.bytes = expected_bytes(parts_.network, *search_rules_, job.prompt);
  return job;
}

DecodeJob TranscriptionTask::any_window() const {
  DecodeJob window = job({}, {tokens().start});
  window.expected_rows = static_cast<std::size_t>(facts_.positions);
  return window;
}

std::unique_ptr<Transcriber> TranscriptionTask::open(Recording recording) const {
  return recording.text ? make_recording_aligner(*this, std::move(recording))
                        : make_recording_transcriber(*this, std::move(recording));
}

DecodeJob TranscriptionTask::detection(Tensor frames, std::shared_ptr<Detected> result) const {
  DecodeJob detection = job(std::move(frames), {tokens().start});
  detection.search = [this, result = std::move(result)](const DecodeJob& job, int source, Session& session) {
    return make_language_search(*this, job, source, session, result);
  };
  return detection;
}

TokenIds TranscriptionTask::start_tokens(std::int32_t language) const {
  const WhisperTokens& ids = tokens();
  if (!ids.is_multilingual) return {ids.start};
  return {ids.start, language, options().task == SpeechTask::translate ? ids.translate : ids.transcribe};
}

DecodeJob TranscriptionTask::window(Tensor frames, const WindowPosition& position, std::int32_t language,
                                    const TokenIds& earlier, std::shared_ptr<DecodedWindow> result) const {
  // Build the prompt: [start_of_prev, hotwords, previous text,] start tokens [, notimestamps].
  const WhisperTokens& ids = tokens();
  TokenIds prompt;
  if (!earlier.empty() || !hotwords_.empty()) {
    prompt.push_back(ids.start_of_prev);
    prompt.insert(prompt.end(), hotwords_.begin(), hotwords_.end());
    const std::size_t most = max_previous_tokens();
    const std::size_t count = std::min(earlier.size(), most - std::min(most, hotwords_.size()));
    prompt.insert(prompt.end(), earlier.end() - static_cast<std::ptrdiff_t>(count), earlier.end());
  }
  const TokenIds start = start_tokens(language);
  prompt.insert(prompt.end(), start.begin(), start.end());
  if (!options().timestamps) prompt.push_back(ids.no_timestamps);
  DecodeJob window = job(std::move(frames), std::move(prompt));
  window.search = [this, position, language, result = std::move(result)](const DecodeJob& job, int source,
                                                                         Session& session) {
    return make_window_search(*this, job, position, language, source, session, result);
  };
  return window;
}

}  // namespace encdec

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "encdec/engine/base/named_values.h"
#include "encdec/models/generation/option_row.h"
#include "encdec/speech/audio/audio_reader.h"
#include "encdec/speech/features/utterance_finder.h"
#include "encdec/speech/speech_model.h"

namespace encdec {

// Which partial texts (texts of unfinished utterances) to compute.
enum class Partials : std::uint8_t {
  automatic,  // skip texts that would be late
  none,
  always,
};

struct LiveOptions {
  RawAudio format = {};  // format of the bytes for feed()
  // Options for each utterance. Clips, batch_size, workers and callbacks are ignored.
  TranscribeOptions transcribe = {};
  // If false, the caller ends each utterance with commit().
  bool finds_utterances = true;
  // If max_utterance_s is 0, the maximum is 14/15 of the model's window: 28 s for Whisper.
  UtteranceOptions utterances = {.max_utterance_s = 0};
  // If null, the session loads transcribe.vad_model or, if that is empty, compares loudness.
  std::shared_ptr<const VoiceActivity> voice_activity = {};
  Partials partials = Partials::automatic;
  int step_ms = 1000;  // milliseconds of speech between two partial texts
};

// Returns the options of a session, without the options of transcribe().
std::span<const OptionRow<LiveOptions>> live_settings();

struct LiveCounts {
  std::uint64_t utterances = 0;  // number of utterances with a text or a failure
  std::uint64_t passes = 0;      // number of partial texts computed
  std::uint64_t skipped = 0;     // number of partial texts skipped because they would have been late
  double audio_seconds = 0;      // length of the audio
};

// An event of a session. Times are in seconds from the session's first sample.
struct LiveEvent {
  enum class Kind : std::uint8_t {
    started,     // an utterance has begun
    partial,     // the text of the utterance so far
    stopped,     // the utterance is over
    final_text,  // the utterance's text
    failed,      // the utterance has no text
    ended,       // the last event, after finish()
  };
  Kind kind = Kind::started;
  std::uint64_t utterance = 0;  // number of the utterance, from 0
  double start = 0;             // start of the utterance
  double end = 0;               // end of the utterance, or of the part that was transcribed for a partial text
  bool has_speech = true;       // false: commit() ended an utterance without speech
  // partial: words that will not change. final_text: the text from SpeechModel::transcribe().
  std::string text = {};
  std::string tail = {};            // partial: words after `text`, which may change
  Transcript transcript = {};       // final_text
  std::exception_ptr failure = {};  // failed
  LiveCounts counts = {};           // ended
};

inline constexpr std::array kLiveEventKinds = {
    Named{LiveEvent::Kind::started, "started"}, Named{LiveEvent::Kind::partial, "partial"},
    Named{LiveEvent::Kind::stopped, "stopped"}, Named{LiveEvent::Kind::final_text, "final"},
    Named{LiveEvent::Kind::failed, "failed"},   Named{LiveEvent::Kind::ended, "ended"},
};

// Transcribes speech while it is spoken: samples in, events out. Only backlog() and seconds() are
// thread-safe. No function waits for decoding.
// - An utterance ends at a pause or after max_utterance_s, and is then transcribed as a
//   separate recording. Final texts come in order and do not change. They depend only on the samples, not
//   on chunk sizes, timing or other requests in the queue.
// - Partial texts are transcripts of the utterance so far, after each step_ms of speech. A word
//   becomes stable when all texts of the last 2 s, at least two, agree on it and on the next word
//   (after LocalAgreement, Liu et al. 2020, which compares two texts).
class LiveSession {
 public:
  // This class and workers call the function, one call at a time. The function must not call this object or throw.
  using OnEvent = std::function<void(LiveEvent event)>;

  // Throws like SpeechModel::check(). Throws ConfigError if the format is outside the limits of
  // AudioDecoder. REQUIRES: `queue` decodes for `model` and outlives this object.
  LiveSession(SpeechModel model, RequestQueue& queue, LiveOptions options, OnEvent on_event, std::uint64_t client = 0);
  // Cancels all utterances without a final text. Sends no more events.
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  // Adds bytes in LiveOptions::format, in chunks of any size, or whole frames of samples from -1 to
  // 1. Throws FileError for a sample that is not finite.
  void feed(std::span<const std::byte> bytes);
  void feed(std::span<const float> samples);
  // Ends the current utterance at the last sample so far. Samples without speech make an utterance
  // with an empty text. Returns false if there are no samples since the previous utterance.
  bool commit();
  // Drops the current utterance and all samples since the previous utterance.
  void clear();
  // Ends the current utterance and the session. Only backlog() and seconds() may be called later.
  void finish();

  // Returns the total length of ended utterances without a text, in seconds. Feed no more samples while it is large.
  double backlog() const;
  double seconds() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace encdec

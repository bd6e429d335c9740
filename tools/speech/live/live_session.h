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

// Whether a session gives texts of utterances that are still spoken.
enum class Partials : std::uint8_t {
  automatic,  // a pass that comes too late is skipped
  none,
  always,  // no pass is skipped, however late
};

struct LiveOptions {
  RawAudio format = {};  // of what feed() takes
  // How utterances are transcribed. Clips, batch_size, workers and callbacks are ignored.
  TranscribeOptions transcribe = {};
  // Utterances are found in the samples. Otherwise the caller ends them, with commit().
  bool finds_utterances = true;
  // max_utterance_s 0: 14/15 of the model's window, 28 s for Whisper.
  UtteranceOptions utterances = {.max_utterance_s = 0};
  // Finds speech. If null, transcribe.vad_model is loaded; if that is empty, speech is what is loud.
  std::shared_ptr<const VoiceActivity> voice_activity = {};
  Partials partials = Partials::automatic;
  int step_ms = 1000;  // time between two partial texts
};

// The options of a session that are not those of transcribe().
std::span<const OptionRow<LiveOptions>> live_settings();

// Totals of a session.
struct LiveCounts {
  std::uint64_t utterances = 0;  // with a text or a failure
  std::uint64_t passes = 0;      // partial texts that were computed
  std::uint64_t skipped = 0;     // partial texts that were not, because they would have come too late
  double seconds = 0;            // length of all samples
};

// Something that happened in a session. Times are in seconds since its first sample.
struct LiveEvent {
  enum class Kind : std::uint8_t {
    started,     // an utterance has begun
    partial,     // a part of its text
    stopped,     // the utterance is over; its text follows
    final_text,  // its text
    failed,      // it has no text
    ended,       // the last event, after finish()
  };
  Kind kind = Kind::started;
  std::uint64_t utterance = 0;  // number from 0
  double start = 0;             // time of the utterance
  double end = 0;               // time of the utterance; for a partial text, of the samples that it is the text of
  bool has_speech = true;       // false: the caller has ended an utterance without speech in it
  // partial: words that later partial texts begin with, too. final_text: the text as SpeechModel::transcribe() gives
  // it for the samples of the utterance.
  std::string text = {};
  std::string tail = {};            // partial: words behind `text` that may change
  Transcript transcript = {};       // final_text: with segments whose times are those of the session
  std::exception_ptr failure = {};  // failed
  LiveCounts counts = {};           // ended
};

// The names of events.
inline constexpr std::array kLiveEventKinds = {
    Named{LiveEvent::Kind::started, "started"}, Named{LiveEvent::Kind::partial, "partial"},
    Named{LiveEvent::Kind::stopped, "stopped"}, Named{LiveEvent::Kind::final_text, "final"},
    Named{LiveEvent::Kind::failed, "failed"},   Named{LiveEvent::Kind::ended, "ended"},
};

// A transcription of speech while it is spoken: samples in, events out. Reads and writes nothing else.
//
// Final texts depend on nothing but the samples: not on the sizes of their pieces, on when they come, or on who else
// uses the queue. An utterance ends at a pause or after max_utterance_s, and is then transcribed by itself. Final texts
// come in order and are not taken back.
//
// Partial texts are passes over an utterance of which `step`, 2 * step, ... seconds have been spoken. A word stays when
// all passes of the last 2 s, at least two, agree on it and on the next word (LocalAgreement of Liu et al. 2020, which
// compares two passes).
//
// feed(), commit(), clear() and finish() are called by one thread at a time and do not wait for decoding.
class LiveSession {
 public:
  // `on_event` is called by feed() and the others and by workers of the queue, one call at a time, in the order of the
  // events. It must not call this object, and must not throw.
  using OnEvent = std::function<void(LiveEvent event)>;

  // `queue` decodes for `model`; `client` is that of RequestQueue::submit(). Throws as SpeechModel::transcribe() does
  // for options, and ConfigError for a format outside the limits of AudioDecoder. REQUIRES: `queue` outlives this
  // object.
  LiveSession(SpeechModel model, RequestQueue& queue, LiveOptions options, OnEvent on_event, std::uint64_t client = 0);
  // Drops what is not final. No event comes after this.
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  // Adds sound in LiveOptions::format: bytes, cut anywhere, or samples from -1 to 1, whole frames of them. Throws
  // FileError for a sample that is not finite.
  void feed(std::span<const std::byte> bytes);
  void feed(std::span<const float> samples);
  // Ends the current utterance at the last sample so far. Samples without speech are an utterance, too: its text is
  // empty. Returns false if no samples have come since the last utterance.
  bool commit();
  // Drops the samples since the last utterance ended, and the current utterance without a final text.
  void clear();
  // Ends the session: `ended` follows the last utterance. REQUIRES: feed(), commit() and clear() are not called after
  // it.
  void finish();

  // Returns the number of seconds in utterances that are over and have no text yet. A caller that reads a file waits
  // while this is large.
  double backlog() const;
  // Returns the length of the sound so far, in seconds.
  double seconds() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace encdec

#pragma once

#include <encdec/speech/features/voice_activity.h>
#include <encdec/speech/speech_model.h>
#include <encdec/speech/transcript/transcript_format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/parameters.h"

namespace encdec::serve {

// The server's speech slice: options, models and metrics.
struct SpeechServer : ServerSlice {
  // Options of `encdec serve`.
  std::string vad_model = {};              // path for requests with vad_filter; may be empty
  std::size_t recording_bytes = 26 << 20;  // maximum body: OpenAI's 25 MiB plus the form
  std::size_t recording_seconds = 14'400;  // maximum length of a recording
  std::size_t live_sessions = 16;          // maximum number of live sessions
  std::size_t live_seconds = 3600;         // maximum length of a live session
  std::size_t live_idle_seconds = 60;      // maximum time without audio in a live session

  std::shared_ptr<const VoiceActivity> voice_activity = {};  // null without --vad-model
  struct Speech {
    std::optional<SpeechModel> model = {};  // unset if the model does not transcribe
    // Metrics in seconds: the length of transcribed audio, and the time from an utterance's end to its text.
    ModelMetrics::Add count_recording, count_text;
  };
  std::vector<Speech> models = {};
  const Speech& of(const ServedModel& model) const { return models[model.number()]; }
};

// Returns the model `name` or, if `name` is empty, the first model that transcribes. Throws like ModelSet::find().
ServedModel& transcriber_of(const Call& call, const std::string& name);

// Segments of an unfinished transcript that have become final.
using FinalSegments = std::vector<TranscriptSegment>;
using TranscribeWork = Work<FinalSegments, Transcript>;
using OnSegments = std::function<void(std::span<const TranscriptSegment> segments)>;

// Starts transcribing. The work delivers FinalSegments, then a Transcript without segments.
TranscribeWork start(const Call& call, ServedModel& model, Recording recording, const TranscribeOptions& options);
// Waits for the whole transcript. If `on_segments` is set, calls it with segments as soon as they are final.
asio::awaitable<Transcript> transcript_of(Call& call, TranscribeWork& work, OnSegments on_segments);

// The functions below read requests. They throw HttpError with the status 400, unless another status is given.

enum class ResponseFormat : std::uint8_t { json, text, srt, vtt, verbose_json };
ResponseFormat read_response_format(const Parameters& parameters);

// Reads a multipart form. Throws HttpError 415 for other bodies.
Parameters read_form(const Call& call);
// Removes the file "file" from the parameters and returns its recording. Throws HttpError 413 if the recording is too
// long. Reading the samples throws 413 too, because a file may be longer than its header states.
Recording read_recording(const Call& call, Parameters& parameters);

// Reads options with the names of OpenAI's API, of openai/whisper (which faster-whisper and its
// servers follow) and of whisper.cpp. Like these servers, ignores unknown parameters.
TranscribeOptions read_transcribe_options(const Call& call, const Parameters& parameters);

TranscriptLineOptions read_line_options(const Parameters& parameters, const TranscribeOptions& options);

}  // namespace encdec::serve

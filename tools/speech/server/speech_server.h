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

// The state of a server for speech.
struct SpeechServer : ServerSlice {
  // Options of `encdec serve`. All but the first are maximums.
  std::string vad_model = {};  // TranscribeOptions::vad_model of requests with vad_filter; empty if there is none
  std::size_t recording_bytes = 26 << 20;  // body with a recording: OpenAI's 25 MiB, and the form around the recording
  std::size_t recording_seconds = 14'400;  // length of a recording
  std::size_t live_sessions = 16;          // sessions of live transcription
  std::size_t live_seconds = 3600;         // length of such a session
  std::size_t live_idle_seconds = 60;      // time in it without audio

  std::shared_ptr<const VoiceActivity> voice_activity = {};  // null if there is no --vad-model
  struct Speech {
    std::optional<SpeechModel> model = {};  // not set if it does not transcribe
    // Count seconds: of a transcribed recording or utterance, and from the end of an utterance to its text.
    ModelMetrics::Add count_recording, count_text;
  };
  std::vector<Speech> models = {};
  const Speech& of(const ServedModel& model) const { return models[model.number()]; }
};

// Returns the model called `name` or, if it is empty, the first that transcribes, as ModelSet::find() does.
ServedModel& transcriber_of(const Call& call, const std::string& name);

// New final segments of a transcript that is still being made.
using FinalSegments = std::vector<TranscriptSegment>;
using TranscribeWork = Work<FinalSegments, Transcript>;
using OnSegments = std::function<void(std::span<const TranscriptSegment> segments)>;

// Starts transcribing. News: FinalSegments, and at the end a Transcript without segments.
TranscribeWork start(const Call& call, ServedModel& model, Recording recording, const TranscribeOptions& options);
// Waits for the end of `work` and returns the whole transcript. Calls `on_segments`, unless it is empty, for segments
// as soon as they are final.
asio::awaitable<Transcript> transcript_of(Call& call, TranscribeWork& work, OnSegments on_segments);

// Functions that read requests for transcription. All throw HttpError, 400, unless another status is given.

// The values of "response_format".
enum class AnswerFormat : std::uint8_t { json, text, srt, vtt, verbose_json };
AnswerFormat read_answer_format(const Parameters& parameters);

// Reads the parameters of a multipart form. Throws HttpError, 415, for a body of another type.
Parameters read_form(const Call& call);
// Takes the recording from the file "file" of a form. Throws HttpError: 400 for a file that is not a recording, 413 for
// a recording longer than the limit. Reading the samples throws 413 at the limit too, because a file may declare a
// shorter length than it has.
Recording read_recording(const Call& call, Parameters& parameters);

// Reads transcription options by the names of three APIs:
// - OpenAI's API,
// - openai/whisper, which faster-whisper and its servers follow,
// - whisper.cpp.
// Ignores unknown parameters, as all three do.
TranscribeOptions read_transcribe_options(const Call& call, const Parameters& parameters);

// Reads how subtitles are broken into lines, by the names of openai/whisper.
TranscriptLineOptions read_line_options(const Parameters& parameters, const TranscribeOptions& options);

}  // namespace encdec::serve

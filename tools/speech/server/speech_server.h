#pragma once

#include <encdec/speech/features/voice_activity.h>
#include <encdec/speech/speech_model.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/call.h"

namespace encdec::serve {

// What a server knows about speech.
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
    std::function<void(double)> count_recording, count_text;
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

std::vector<Route> openai_audio_routes(const SpeechServer& server);
std::vector<Route> openai_realtime_routes(const SpeechServer& server);

}  // namespace encdec::serve

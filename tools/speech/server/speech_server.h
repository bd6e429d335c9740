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

// Options of `encdec serve`. All but the first are maximums.
struct SpeechSettings {
  std::string vad_model = {};  // TranscribeOptions::vad_model of requests with vad_filter; empty if there is none
  std::size_t recording_bytes = 26 << 20;  // body with a recording: OpenAI's 25 MiB, and the form around the recording
  std::size_t recording_seconds = 14'400;  // length of a recording
  std::size_t live_sessions = 16;          // sessions of live transcription
  std::size_t live_seconds = 3600;         // length of such a session
  std::size_t live_idle_seconds = 60;      // time in it without audio
};

// The models of a server that transcribe recordings.
class SpeechServer final : public ServerSlice {
 public:
  std::vector<ServeOption> options() override;
  std::vector<Route> routes() const override;
  void load(const ServeSettings& settings) override;
  void add(const ServedModel& model, Metrics& metrics) override;
  std::string what_it_does(const ServedModel& model) const override;
  void describe(const ServedModel& model, nlohmann::ordered_json& entry, nlohmann::ordered_json& type) const override;

  const SpeechSettings& settings() const { return settings_; }
  // Finds speech; null if there is no --vad-model.
  const std::shared_ptr<const VoiceActivity>& voice_activity() const { return voice_activity_; }
  // What the slice knows about a model.
  struct Speech {
    std::optional<SpeechModel> model;  // not set if it does not transcribe
    // Count seconds: of a transcribed recording or utterance, and from the end of an utterance to its text.
    std::function<void(double)> count_recording, count_text;
  };
  const Speech& of(const ServedModel& model) const { return models_[model.number()]; }

 private:
  SpeechSettings settings_;
  std::shared_ptr<const VoiceActivity> voice_activity_;
  std::vector<Speech> models_;
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

std::vector<Route> openai_audio_routes(const SpeechSettings& settings);
std::vector<Route> openai_realtime_routes(const SpeechSettings& settings);

}  // namespace encdec::serve

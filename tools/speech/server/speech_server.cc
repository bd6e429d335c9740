#include "speech/server/speech_server.h"

#include <encdec/engine/base/error.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "slice.h"

namespace encdec::serve {
namespace {

// Returns an HttpError, 400, in place of a FileError: the client has sent the unreadable recording.
std::exception_ptr fault_of_recording(std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const FileError& error) {
    return std::make_exception_ptr(HttpError(400, error.what()));
  } catch (...) {
    return failure;
  }
}

class SpeechSlice final : public SpeechServer {
 public:
  std::vector<ServeOption> options() override {
    return {{"--vad-model", &vad_model,
             "Silero's voice activity detector (.safetensors), used by requests with vad_filter", "FILE"},
            {"--max-recording-bytes", &recording_bytes, "Maximum bytes of a request's body with a recording", "N",
             std::int64_t{1} << 34},
            {"--max-recording-seconds", &recording_seconds, "Maximum length of a recording"},
            {"--max-live-sessions", &live_sessions, "Maximum sessions of live transcription"},
            {"--live-timeout", &live_seconds},
            {"--live-idle-timeout", &live_idle_seconds}};
  }

  std::vector<Route> routes() const override {
    return joined({openai_audio_routes(*this), openai_realtime_routes(*this)});
  }

  void load(const ServeSettings& /*settings*/) override {
    if (vad_model.empty()) return;
    voice_activity = std::make_shared<const VoiceActivity>(VoiceActivity::load(vad_model));
  }

  void add(const ServedModel& model, Metrics& metrics) override {
    Speech& speech = models.emplace_back();
    if (model.model().config().source_kind() == SourceKind::frames) speech.model.emplace(model.model());
    speech.count_recording =
        metrics.counter("encdec_audio_seconds_total", "Seconds of transcribed recordings", model.name());
    speech.count_text =
        metrics.histogram("encdec_live_text_seconds", "Time from the end of an utterance to its text", model.name());
  }

  std::string what_it_does(const ServedModel& model) const override {
    return of(model).model ? "transcribes recordings" : "";
  }

  void describe(const ServedModel& model, Json& entry, Json& type) const override {
    if (!of(model).model) return;
    entry["task"] = "automatic-speech-recognition";  // keys of speaches, a server for Whisper
    entry["language"] = of(model).model->languages();
    type = {{"transcription", Json::object()}};
  }
};

}  // namespace

std::unique_ptr<ServerSlice> speech_server_slice() {
  return std::make_unique<SpeechSlice>();
}

ServedModel& transcriber_of(const Call& call, const std::string& name) {
  const auto& speech = call.slice<SpeechServer>();
  return call.parts().models.find(
      name, [&](const ServedModel& model) { return speech.of(model).model.has_value(); }, "transcribes recordings");
}

TranscribeWork start(const Call& call, ServedModel& model, Recording recording, const TranscribeOptions& options) {
  TranscribeWork work(call.executor());
  const auto& speech = call.slice<SpeechServer>().of(model);
  TranscribeHandlers handlers{
      .on_result =
          [news = work.news(), &speech](Transcript transcript) {
            speech.count_recording(transcript.duration);
            news->put({0, std::move(transcript)});
          },
      .on_failure =
          [news = work.news()](std::exception_ptr failure) {
            news->put({0, fault_of_recording(std::move(failure))});
          },
      .on_segments =
          [news = work.news(), &metrics = model.metrics()](std::span<const TranscriptSegment> segments) {
            for (const auto& segment : segments) metrics.count_tokens(segment.tokens.size());
            news->put({0, FinalSegments(segments.begin(), segments.end())});
          }};
  work.add(speech.model->submit(model.queue(), std::move(recording), options, std::move(handlers), call.client()));
  return work;
}

asio::awaitable<Transcript> transcript_of(Call& call, TranscribeWork& work, OnSegments on_segments) {
  FinalSegments segments;
  for (;;) {
    auto news = co_await call.next(work);
    if (auto* transcript = std::get_if<Transcript>(&news.what)) {
      transcript->segments = std::move(segments);
      co_return std::move(*transcript);
    }
    auto& fresh = std::get<FinalSegments>(news.what);
    if (on_segments) on_segments(fresh);
    std::ranges::move(fresh, std::back_inserter(segments));
  }
}

}  // namespace encdec::serve

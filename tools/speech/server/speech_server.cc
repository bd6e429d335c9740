#include "speech/server/speech_server.h"

#include <encdec/engine/base/error.h>
#include <encdec/speech/transcription/transcribe_settings.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/generation_request.h"
#include "server/option_rows.h"
#include "slice.h"

namespace encdec::serve {

// These functions are defined in openai_audio.cc and openai_realtime.cc.
std::vector<Route> openai_audio_routes(const SpeechServer& server);
std::vector<Route> openai_realtime_routes(const SpeechServer& server);

namespace {

// Replaces a FileError by an HttpError 400, because the client sent the recording that cannot be read.
std::exception_ptr fault_of_recording(std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const FileError& error) {
    return std::make_exception_ptr(HttpError(400, error.what()));
  } catch (...) {
    return failure;
  }
}

// Reads the spoken language. "auto" becomes "", and "pt-BR" becomes "pt".
std::string language_of(const Parameters& parameters) {
  const std::string language = parameters.short_text("language");
  return language == "auto" ? std::string() : language.substr(0, language.find_first_of("-_"));
}

// Refuses values other than the default for parameters that have no effect any more.
void check_removed(const Parameters& parameters) {
  for (const auto& [name, only] : {std::pair{"rules", "openai"}, {"chunk_length", "0"}}) {
    const std::string value = parameters.text(name);
    if (value.empty() || value == only) continue;
    throw HttpError(400, fmt::format("'{}' is '{}', expected {}", name, shown(value), only));
  }
}

// Returns the temperatures to try: the parameter "temperature", then higher temperatures up to 1.
std::vector<double> temperatures_of(const Parameters& parameters, const OptionRange& range) {
  const double first = parameters.real("temperature", range).value_or(0);
  double step = 0.2;
  for (const char* name : {"temperature_increment_on_fallback", "temperature_inc"}) {
    step = parameters.real(name, kTemperatureIncrement).value_or(step);
  }
  return fallback_temperatures(first, step);
}

HttpError recording_too_long(std::size_t seconds) {
  return {413, fmt::format("a recording of more than {} s (--max-recording-seconds)", seconds)};
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

  std::string task(const ServedModel& model) const override { return of(model).model ? "transcribes recordings" : ""; }

  void describe(const ServedModel& model, Json& entry) const override {
    if (!of(model).model) return;
    entry["task"] = "automatic-speech-recognition";  // the keys are the same in speaches, another Whisper server
    entry["language"] = of(model).model->languages();
  }

  void set_type(const ServedModel& model, Json& type) const override {
    if (of(model).model) type = {{"transcription", Json::object()}};
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
            for (const auto& segment : segments) metrics.generated_tokens(static_cast<double>(segment.tokens.size()));
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

ResponseFormat read_response_format(const Parameters& parameters) {
  const std::string name = parameters.text("response_format");
  if (name.empty() || name == "json") return ResponseFormat::json;
  if (name == "text") return ResponseFormat::text;
  if (name == "srt") return ResponseFormat::srt;
  if (name == "vtt") return ResponseFormat::vtt;
  if (name == "verbose_json") return ResponseFormat::verbose_json;
  throw HttpError(400,
                  fmt::format("'response_format' is '{}', expected json, text, srt, verbose_json or vtt", shown(name)));
}

Parameters read_form(const Call& call) {
  const std::string type = media_type(call.request().headers["content-type"]);
  if (type == "multipart/form-data") return Parameters(call);
  throw HttpError(
      415, fmt::format("the body has {}, expected multipart/form-data", type.empty() ? "no type" : "type " + type));
}

Recording read_recording(const Call& call, Parameters& parameters) {
  auto bytes = parameters.take_file("file");
  if (!bytes || bytes->empty()) {
    throw HttpError(400, "'file' is missing or empty, expected a recording as a file of multipart/form-data");
  }
  try {
    Recording recording = Recording::of_bytes(std::make_shared<const std::string>(*std::move(bytes)), "'file'");
    // Check the stated length now, and the actual length while the recording is read.
    const std::size_t longest = call.slice<SpeechServer>().recording_seconds;
    if (recording.seconds && *recording.seconds > static_cast<double>(longest)) throw recording_too_long(longest);
    recording.open = [open = std::move(recording.open), longest]() -> Recording::Read {
      return [read = open(), longest, left = longest * AudioReader::kSampleRate](std::span<float> samples) mutable {
        const std::size_t count = read(samples);
        if (count > left) throw recording_too_long(longest);
        left -= count;
        return count;
      };
    };
    return recording;
  } catch (const FileError& error) {
    throw HttpError(400, error.what());
  }
}

TranscribeOptions read_transcribe_options(const Call& call, const Parameters& parameters) {
  check_removed(parameters);
  const std::string& vad_model = call.slice<SpeechServer>().vad_model;
  TranscribeOptions options;
  const bool finds_speech = parameters.flag("vad_filter", parameters.flag("vad", false));
  if (finds_speech && vad_model.empty())
    throw HttpError(400, "'vad_filter' is true, expected false: the server was started without --vad-model");
  if (finds_speech) options.vad_model = vad_model;
  for (const OptionRow<TranscribeOptions>& row : transcribe_settings()) {
    if (row.name == "temperature") {
      options.temperatures = temperatures_of(parameters, row.range);
    } else if (finds_speech || !row.name.starts_with("vad_")) {
      read_option(parameters, row, row.value(options));
    }
  }
  options.language = language_of(parameters);
  check_limit("beam_size", options.beam_size, call.limits().beams);
  check_limit("best_of", options.best_of, call.limits().beams);
  return options;
}

TranscriptLineOptions read_line_options(const Parameters& parameters, const TranscribeOptions& options) {
  TranscriptLineOptions lines{.word_times = options.word_timestamps};
  read_rows(parameters, transcript_line_settings(), lines);
  return lines;
}

}  // namespace encdec::serve

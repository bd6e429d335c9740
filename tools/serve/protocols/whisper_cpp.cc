// The protocol of whisper.cpp's server (examples/server/server.cpp, 1.8): POST /inference.
#include <encdec/models/tokenizer/base/utf8.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "serve/routes.h"
#include "serve/transcript_json.h"
#include "serve/transcription_request.h"

namespace encdec::serve {
namespace whisper_cpp {

using Json = nlohmann::ordered_json;

// Reads the parameters that only whisper.cpp has.
void read_own(const Parameters& parameters, const ServedModel& model, TranscribeOptions& options) {
  if (parameters.flag("translate", false)) options.task = SpeechTask::translate;
  if (parameters.flag("detect_language", false)) options.language.clear();
  // English-only models ignore both, as in whisper.cpp.
  if (model.speech().languages().size() == 1) {
    options.language.clear();
    options.task = SpeechTask::transcribe;
  }
  constexpr double kMilliseconds = 1000, kLongest = 1e9;
  const double begin = parameters.real("offset_t", {0, kLongest}).value_or(0) / kMilliseconds;
  const double length = parameters.real("duration", {0, kLongest}).value_or(0) / kMilliseconds;
  if (begin > 0 || length > 0) options.clip_timestamps = {begin};
  if (length > 0) options.clip_timestamps.push_back(begin + length);
}

// Returns the text of each segment on a line of its own.
std::string lines_of(const Transcript& transcript) {
  std::string lines;
  for (const TranscriptSegment& segment : transcript.segments) lines += replace_invalid_utf8(segment.text) + '\n';
  return lines;
}

HttpResponse response(const Transcript& transcript, AnswerFormat format, const TranscribeOptions& options,
                      const TranscriptLineOptions& lines) {
  if (format == AnswerFormat::srt) return subtitles_of(transcript, TranscriptFormat::srt, lines);
  if (format == AnswerFormat::vtt) return subtitles_of(transcript, TranscriptFormat::vtt, lines);
  if (format == AnswerFormat::text) {
    return {.body = lines_of(transcript), .content_type = "text/plain; charset=utf-8"};
  }
  if (format == AnswerFormat::json) return {.body = to_text({{"text", lines_of(transcript)}})};
  const SegmentWords words = options.word_timestamps ? SegmentWords::with_probabilities : SegmentWords::none;
  return {.body = to_text({{"task", options.task == SpeechTask::translate ? "translate" : "transcribe"},
                           {"language", spoken_language(transcript)},
                           {"duration", transcript.duration},
                           {"text", lines_of(transcript)},
                           {"segments", segments_json(transcript.segments, words)},
                           {"detected_language", spoken_language(transcript)},
                           {"detected_language_probability", transcript.language_probability}})};
}

asio::awaitable<void> inference(Call& call) {
  Parameters parameters = read_form(call);
  ServedModel& model = call.parts().models.transcriber(parameters.text("model"));
  Recording recording = read_recording(parameters, call.limits());
  const AnswerFormat format = read_answer_format(parameters);
  TranscribeOptions options = read_transcribe_options(parameters, call.parts().settings);
  read_own(parameters, model, options);
  if (format == AnswerFormat::verbose_json && options.timestamps) {
    options.word_timestamps = parameters.flag("token_timestamps", true);
  }
  const TranscriptLineOptions lines = read_line_options(parameters, options);
  Work work = call.start(model, std::move(recording), options);
  const Call::OnSegments nothing;
  const Transcript transcript = co_await call.transcript(work, nothing);
  call.answer(response(transcript, format, options, lines));
}

constexpr std::array kRoutes = {
    Route{"POST", "/inference", &inference, &plain_error, Route::Key::in_header, Route::Body::recording},
};

}  // namespace whisper_cpp

std::span<const Route> whisper_cpp_routes() {
  return whisper_cpp::kRoutes;
}

}  // namespace encdec::serve

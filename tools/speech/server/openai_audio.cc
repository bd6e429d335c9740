// OpenAI's audio API: /v1/audio/transcriptions and /v1/audio/translations
// (platform.openai.com/docs/api-reference/audio). /v1/audio/alignments is our addition, in the same style.
#include <encdec/models/checkpoint/whisper_format.h>
#include <encdec/models/tokenizer/base/utf8.h>
#include <encdec/speech/transcript/alignment_format.h>
#include <encdec/speech/transcript/transcript_format.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "speech/server/speech_server.h"

namespace encdec::serve {
namespace openai_audio {

using Json = nlohmann::ordered_json;

struct Request {
  Recording recording = {};
  TranscribeOptions options = {};
  TranscriptLineOptions lines = {};
  ResponseFormat format = ResponseFormat::json;
  bool has_segments = true;  // include "segments" in verbose_json
  bool has_words = false;    // include "words" in verbose_json
  SegmentWords segment_words = SegmentWords::none;
  bool is_stream = false;
};

// Reads "timestamp_granularities[]": segment, word or both.
void read_granularities(const Parameters& parameters, Request& request) {
  std::vector<std::string> names;
  for (const char* key : {"timestamp_granularities[]", "timestamp_granularities"}) {
    bool is_list = false;
    for (std::string& name : parameters.texts(key, is_list)) names.push_back(std::move(name));
  }
  if (names.empty()) return;
  if (request.format != ResponseFormat::verbose_json) {
    throw HttpError(400, "'timestamp_granularities[]' without 'response_format' verbose_json, expected both");
  }
  request.has_segments = false;
  for (const std::string& name : names) {
    if (name != "word" && name != "segment") {
      throw HttpError(400, fmt::format("'timestamp_granularities[]' is '{}', expected word or segment", shown(name)));
    }
    (name == "word" ? request.has_words : request.has_segments) = true;
  }
}

Request read_request(const Call& call, Parameters& parameters, SpeechTask task) {
  Request request{.recording = read_recording(call, parameters)};
  TranscribeOptions& options = request.options = read_transcribe_options(call, parameters);
  options.task = task;
  // /v1/audio/translations has no "language". Clients that send "language" mean English, the output language.
  if (task == SpeechTask::translate) options.language.clear();
  request.format = read_response_format(parameters);
  read_granularities(parameters, request);
  if (options.word_timestamps) request.segment_words = SegmentWords::with_probabilities;
  options.word_timestamps |= request.has_words;
  request.lines = read_line_options(parameters, options);
  request.is_stream = parameters.flag("stream", false);
  if (request.is_stream && (request.format == ResponseFormat::srt || request.format == ResponseFormat::vtt)) {
    throw HttpError(400, "'stream' with subtitles, expected 'response_format' json, text or verbose_json");
  }
  return request;
}

Json segments_json(std::span<const TranscriptSegment> segments, SegmentWords words) {
  Json list = Json::array();
  for (const TranscriptSegment& segment : segments) list.push_back(segment_json(segment, words));
  return list;
}

// Returns the words of all segments. White space around each word is removed.
Json words_json(std::span<const TranscriptSegment> segments) {
  Json list = Json::array();
  for (const TranscriptSegment& segment : segments) {
    for (const TranscriptWord& word : segment.words) {
      list.push_back({{"word", strip(replace_invalid_utf8(word.text))}, {"start", word.start}, {"end", word.end}});
    }
  }
  return list;
}

std::string text_of(const Transcript& transcript) {
  return std::string(strip(replace_invalid_utf8(transcript.text)));
}

// Returns a response with subtitles. REQUIRES: `format` is srt or vtt.
HttpResponse subtitles_of(const Transcript& transcript, TranscriptFormat format, const TranscriptLineOptions& lines) {
  return {.body = encdec::format(transcript, format, lines),
          .content_type =
              format == TranscriptFormat::srt ? "application/x-subrip; charset=utf-8" : "text/vtt; charset=utf-8"};
}

// Returns the English name of the language in lower case, such as "english". If the name is unknown, returns the code.
std::string spoken_language(const Transcript& transcript) {
  const std::string_view name = whisper_language_name(transcript.language);
  return name.empty() ? transcript.language : lower_case(name);
}

Json verbose_json(const Request& request, const Transcript& transcript) {
  const bool is_translation = request.options.task == SpeechTask::translate;
  Json json = {{"task", is_translation ? "translate" : "transcribe"},
               {"language", is_translation ? "english" : spoken_language(transcript)},
               {"duration", transcript.duration},
               {"text", text_of(transcript)}};
  if (request.has_segments) json["segments"] = segments_json(transcript.segments, request.segment_words);
  if (request.has_words) json["words"] = words_json(transcript.segments);
  return json;
}

// Adds a header "Warning" (RFC 7234, section 5.5) if the recording is truncated. JSON also has a field "warning".
HttpResponse with_warning(HttpResponse response, const Transcript& transcript) {
  if (transcript.is_cut) response.headers.emplace_back("Warning", fmt::format("299 - \"{}\"", kCutRecording));
  return response;
}

HttpResponse response(const Request& request, const Transcript& transcript) {
  if (request.format == ResponseFormat::text) {
    return {.body = text_of(transcript) + "\n", .content_type = "text/plain; charset=utf-8"};
  }
  if (request.format == ResponseFormat::srt) return subtitles_of(transcript, TranscriptFormat::srt, request.lines);
  if (request.format == ResponseFormat::vtt) return subtitles_of(transcript, TranscriptFormat::vtt, request.lines);
  Json json = request.format == ResponseFormat::verbose_json ? verbose_json(request, transcript)
                                                             : Json{{"text", text_of(transcript)}};
  if (transcript.is_cut) json["warning"] = kCutRecording;
  if (request.options.task == SpeechTask::transcribe) {
    json["usage"] = {{"type", "duration"}, {"seconds", std::ceil(transcript.duration)}};
  }
  return {.body = to_text(json)};
}

// Returns a function that sends an event for each segment. Concatenated, the deltas of all events are the
// whole text. With verbose_json, an event also contains the segment and its timestamps.
OnSegments delta_sender(Call& call, const Request& request) {
  const bool is_verbose = request.format == ResponseFormat::verbose_json;
  return [&call, is_verbose, words = request.segment_words,
          is_first = true](std::span<const TranscriptSegment> segments) mutable {
    for (const TranscriptSegment& segment : segments) {
      const std::string valid = replace_invalid_utf8(segment.text);
      const std::string_view text = is_first ? strip_left(valid) : std::string_view(valid);
      if (text.empty() && !is_verbose) continue;
      is_first = is_first && text.empty();
      Json event = {{"type", "transcript.text.delta"}, {"delta", text}};
      if (is_verbose) event["segment"] = segment_json(segment, words);
      call.send_event(event);
    }
  };
}

Json done_event(const Request& request, const Transcript& transcript) {
  Json event = {{"type", "transcript.text.done"}, {"text", text_of(transcript)}};
  if (request.format == ResponseFormat::verbose_json) event.update(verbose_json(request, transcript));
  if (transcript.is_cut) event["warning"] = kCutRecording;
  return event;
}

// Transcribes the recording, then sends the response, or the last event of a stream.
asio::awaitable<void> serve_task(Call& call, SpeechTask task) {
  Parameters parameters = read_form(call);
  ServedModel& model = transcriber_of(call, parameters.text("model"));
  Request request = read_request(call, parameters, task);
  TranscribeWork work = start(call, model, std::move(request.recording), request.options);
  OnSegments on_segments;
  if (request.is_stream) {
    call.begin_events();
    on_segments = delta_sender(call, request);
  }
  const Transcript transcript = co_await transcript_of(call, work, on_segments);
  if (!request.is_stream) {
    call.send_response(with_warning(response(request, transcript), transcript));
    co_return;
  }
  call.send_event(done_event(request, transcript));
  call.finish();
}

asio::awaitable<void> transcriptions(Call& call) {
  co_await serve_task(call, SpeechTask::transcribe);
}

asio::awaitable<void> translations(Call& call) {
  co_await serve_task(call, SpeechTask::translate);
}

std::string read_known_text(Parameters& parameters) {
  std::string text = parameters.take_file("text").value_or(parameters.text("text"));
  if (text.empty()) throw HttpError(400, "'text' is missing or empty, expected the text of the recording");
  return text;
}

AlignmentFormat read_alignment_format(const Parameters& parameters) {
  const std::string name = parameters.text("response_format", "json");
  if (const auto format = value_named<AlignmentFormat>(kAlignmentFormats, name)) return *format;
  throw HttpError(400, fmt::format("'response_format' is '{}', expected one of {}", shown(name),
                                   fmt::join(names_of(kAlignmentFormats), ", ")));
}

asio::awaitable<void> alignments(Call& call) {
  Parameters parameters = read_form(call);
  ServedModel& model = transcriber_of(call, parameters.text("model"));
  Recording recording = read_recording(call, parameters);
  recording.text = read_known_text(parameters);
  const AlignmentFormat format = read_alignment_format(parameters);
  TranscribeWork work = start(call, model, std::move(recording), read_transcribe_options(call, parameters));
  const OnSegments nothing;
  const Transcript alignment = co_await transcript_of(call, work, nothing);
  HttpResponse formatted{.body = format == AlignmentFormat::json ? to_text(alignment_json(alignment))
                                                                 : format_alignment(alignment, format)};
  if (format != AlignmentFormat::json) formatted.content_type = "text/plain; charset=utf-8";
  call.send_response(with_warning(std::move(formatted), alignment));
}

}  // namespace openai_audio

std::vector<Route> openai_audio_routes(const SpeechServer& server) {
  const auto route = [&server](const char* path, auto handle) {
    return Route{"POST", path, handle, &openai_error, Route::Key::in_header, server.recording_bytes};
  };
  return {route("/v1/audio/transcriptions", &openai_audio::transcriptions),
          route("/v1/audio/translations", &openai_audio::translations),
          route("/v1/audio/alignments", &openai_audio::alignments)};
}

}  // namespace encdec::serve

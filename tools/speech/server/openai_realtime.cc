// OpenAI's realtime API for transcription: /v1/realtime over a WebSocket, with any query string
// (platform.openai.com/docs/guides/realtime-transcription).
#include <encdec/engine/base/base64.h>
#include <encdec/engine/base/error.h>
#include <encdec/models/tokenizer/base/utf8.h>
#include <encdec/speech/live/live_session.h>
#include <encdec/speech/transcription/transcribe_settings.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <variant>

#include "server/option_rows.h"
#include "speech/server/speech_server.h"

namespace encdec::serve {
namespace openai_realtime {

using Json = nlohmann::ordered_json;  // type of events that are sent to the client
using Input = nlohmann::json;         // type of events that the client sends

constexpr double kLongestBacklog = 30;       // maximum backlog, in seconds, at which audio is fed
constexpr std::size_t kFedBytes = 64 << 10;  // maximum bytes of audio to feed before checking the backlog
constexpr std::chrono::milliseconds kCheckInterval{250};
enum CloseCode : int { kGoingAway = 1001, kUnsupported = 1003, kPolicy = 1008, kInternalError = 1011 };

// An invalid event of the client. The client is sent an "error" event, and the session continues.
struct EventError : std::runtime_error {
  EventError(std::string code_, const std::string& message, std::string param_ = {})
      : std::runtime_error(message), code(std::move(code_)), param(std::move(param_)) {}
  std::string code, param;
};

// Returns the initial value of "session.audio.input". The client may change these settings.
Json default_input(const std::string& model) {
  return {{"format", {{"type", "audio/pcm"}, {"rate", 24'000}}},
          {"transcription", {{"model", model}, {"language", nullptr}, {"prompt", ""}}},
          {"noise_reduction", nullptr},
          {"turn_detection",
           {{"type", "server_vad"}, {"threshold", 0.5}, {"prefix_padding_ms", 300}, {"silence_duration_ms", 500}}}};
}

// Converts the beta protocol's settings to "session.audio.input".
Input input_of_beta(const Input& session) {
  Input input = Input::object();
  const std::map<std::string, Input> formats = {{"pcm16", {{"type", "audio/pcm"}, {"rate", 24'000}}},
                                                {"g711_ulaw", {{"type", "audio/pcmu"}}},
                                                {"g711_alaw", {{"type", "audio/pcma"}}}};
  if (const auto format = session.find("input_audio_format"); format != session.end()) {
    const auto known = format->is_string() ? formats.find(format->get<std::string>()) : formats.end();
    if (known == formats.end()) {
      throw EventError("invalid_value", "expected pcm16, g711_ulaw or g711_alaw", "session.input_audio_format");
    }
    input["format"] = known->second;
  }
  if (session.contains("input_audio_transcription")) input["transcription"] = session["input_audio_transcription"];
  if (session.contains("turn_detection")) input["turn_detection"] = session["turn_detection"];
  return input;
}

// Returns the member object[key], or an empty object if the member is missing or null. Throws EventError if the
// member has another type.
Input member(const Input& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return Input::object();
  if (found->is_object()) return *found;
  throw EventError("invalid_type", fmt::format("'{}' is {}, expected a JSON object", key, found->type_name()), key);
}

// Returns `others` and all names that read_option() accepts for `rows`.
template <class Rows>
std::set<std::string_view> names_of(const Rows& rows, std::initializer_list<std::string_view> others) {
  std::set<std::string_view> names(others);
  for (const auto& row : rows) {
    for (const std::string_view name : row.names()) names.insert(name.starts_with('!') ? name.substr(1) : name);
  }
  return names;
}

// Copies the settings `names` from change[key] to input[key]. If change[key] is null, sets input[key] to null.
void take_settings(Json& input, const Input& change, const char* key, const std::set<std::string_view>& names) {
  constexpr std::size_t kLongest = 64 << 10;
  const Input fresh = member(change, key);
  if (change.contains(key) && change[key].is_null()) input[key] = nullptr;
  for (const std::string_view name : names) {
    const auto value = fresh.find(name);
    if (value == fresh.end()) continue;
    if (value->is_structured() || (value->is_string() && value->get_ref<const std::string&>().size() > kLongest)) {
      const std::string where = fmt::format("session.audio.input.{}.{}", key, name);
      throw EventError("invalid_value", fmt::format("expected a single value of at most {} bytes", kLongest), where);
    }
    input[key][std::string(name)] = *value;
  }
}

Parameters parameters_of(const Json& object, const std::string& name) {
  try {
    return Parameters(JsonObject(nlohmann::json(object), name));
  } catch (const Error& error) {
    throw EventError("invalid_type", error.what(), "session.audio.input." + name);
  }
}

// Returns the format of the client's audio: 16-bit PCM at any rate, or G.711 at 8 kHz.
RawAudio read_format(const Json& format) {
  const Parameters parameters = parameters_of(format, "format");
  const std::string type = parameters.text("type", "audio/pcm");
  if (type == "audio/pcmu") return {.samples = RawAudio::Samples::mu_law, .sample_rate = 8'000};
  if (type == "audio/pcma") return {.samples = RawAudio::Samples::a_law, .sample_rate = 8'000};
  if (type != "audio/pcm") {
    throw EventError("invalid_value",
                     fmt::format("'type' is '{}', expected audio/pcm, audio/pcmu or audio/pcma", shown(type)),
                     "session.audio.input.format");
  }
  return {.sample_rate = parameters.integer("rate", 8'000, 48'000).value_or(24'000)};
}

// Returns the options of a LiveSession. Throws EventError or HttpError for invalid settings.
LiveOptions read_options(const Call& call, const Json& input) {
  LiveOptions options{.format = read_format(input["format"])};
  if (!input["transcription"].is_null()) {
    options.transcribe = read_transcribe_options(call, parameters_of(input["transcription"], "transcription"));
  }
  options.finds_utterances = !input["turn_detection"].is_null();
  if (!options.finds_utterances) return options;
  const Parameters turns = parameters_of(input["turn_detection"], "turn_detection");
  const std::string type = turns.text("type", "server_vad"), eagerness = turns.text("eagerness", "auto");
  if (type != "server_vad" && type != "semantic_vad") {
    throw EventError("invalid_value", fmt::format("'type' is '{}', expected server_vad or semantic_vad", shown(type)),
                     "session.audio.input.turn_detection");
  }
  read_rows(turns, live_settings(), options);
  // This server does not analyse meaning. For semantic_vad, "eagerness" sets the length of the silence.
  if (type == "semantic_vad") {
    options.utterances.silence_duration_ms = eagerness == "low" ? 1'000 : eagerness == "high" ? 300 : 500;
  }
  return options;
}

struct Message {
  std::string text;
  bool is_text = true;
};
struct News {
  std::size_t number = 0;  // index in RealtimeConnection::parts_
  LiveEvent event;
};

// One WebSocket connection. A change of settings starts a new LiveSession, but earlier LiveSessions continue
// until their last event. While the backlog of audio is long, the connection reads no messages.
class RealtimeConnection {
 public:
  explicit RealtimeConnection(Call& call)
      : call_(call),
        speech_(call.slice<SpeechServer>()),
        id_(random_id()),
        model_(&find_model(std::string(call.request().query["model"]))),
        input_(default_input(model_->name())),
        options_(read_options(call, input_)),
        inbox_(std::make_shared<Mailbox<std::variant<Message, News>>>(call.executor())) {}

  asio::awaitable<void> run() {
    const Clock::time_point end = Clock::now() + std::chrono::seconds(speech_.live_seconds);
    // Do not echo Sec-WebSocket-Protocol, because it may contain an API key.
    const bool has_protocol = call_.request().headers["sec-websocket-protocol"].find("realtime") != std::string::npos;
    call_.open_socket(
        has_protocol ? "realtime" : "",
        [inbox = inbox_](std::string text, bool is_text) {
          inbox->put(Message{std::move(text), is_text});
        },
        end + call_.limits().request_time);
    send({{"type", "session.created"}, {"session", session_json()}});
    call_.ask_message();
    // Handle messages and events. Feed the audio in parts while the backlog is short.
    while (!is_over_) {
      auto news = co_await inbox_->take(Clock::now() + kCheckInterval);
      try {
        if (news) std::visit([this](auto& what) { read(what); }, *news);
        check_times(end);
      } catch (const HttpError& error) {
        fail(error.status() < 500 ? kPolicy : kInternalError, "server_error", error.what());
      } catch (const Error& error) {
        fail(kInternalError, "server_error", error.what());
      }
      while (!sound_.empty() && backlog() < kLongestBacklog) feed(kFedBytes);
      if (is_asking_late_ && sound_.empty() && backlog() < kLongestBacklog) {
        is_asking_late_ = false;
        call_.ask_message();
      }
    }
  }

 private:
  // Returns the model called `name`. If only one served model can transcribe, returns this model for any name.
  ServedModel& find_model(const std::string& name) const {
    const auto count = std::ranges::count_if(
        call_.parts().models.all(), [this](const auto& model) { return speech_.of(*model).model.has_value(); });
    return transcriber_of(call_, count == 1 ? "" : name);
  }

  void send(Json event) {
    event["event_id"] = fmt::format("event_{}_{}", id_.substr(0, 8), events_++);
    call_.send_message(event);
  }
  void send_error(const std::string& type, const std::string& code, const std::string& message,
                  const std::string& param = {}) {
    Json error = {{"type", type},
                  {"code", code},
                  {"message", without_folders(replace_invalid_utf8(message), call_.parts().settings)}};
    error["param"] = param.empty() ? Json(nullptr) : Json(param);
    error["event_id"] = client_event_.empty() ? Json(nullptr) : Json(client_event_);
    send({{"type", "error"}, {"error", error}});
  }
  void fail(CloseCode code, const std::string& type, const std::string& message) {
    client_event_.clear();
    send_error(code == kInternalError ? "server_error" : "invalid_request_error", type, message);
    close(code);
  }
  void close(CloseCode code) {
    is_over_ = true;
    call_.close_socket(code, "");
  }

  // Ends the session if the server shuts down or if a time limit is exceeded.
  void check_times(Clock::time_point end) {
    if (is_over_) return;
    if (call_.parts().is_draining && !is_ending_) {
      is_ending_ = true;
      if (!sound_.empty()) feed(sound_.size());
      finish_part();
    }
    if (is_ending_ && std::ranges::all_of(parts_, [](const Part& part) { return part.session == nullptr; })) {
      return close(kGoingAway);
    }
    if (Clock::now() >= end)
      return fail(kPolicy, "session_expired", "the session has reached its maximum length (--live-timeout)");
    if (Clock::now() >= last_audio_ + std::chrono::seconds(speech_.live_idle_seconds) && !is_ending_) {
      fail(kPolicy, "session_idle", "no audio for longer than allowed (--live-idle-timeout)");
    }
  }

  double backlog() const {
    double seconds = 0;
    for (const Part& part : parts_) seconds += part.session ? part.session->backlog() : 0;
    return seconds;
  }

  // The functions below handle events of the client.

  // Handles one event. run() requests the next message when the backlog is short.
  void read(Message& message) {
    client_event_.clear();
    try {
      if (!message.is_text) throw EventError("invalid_event", "a binary message, expected JSON as text");
      const Input event = parsed(message.text);
      const std::string type = text_of(event, "type");
      client_event_ = text_of(event, "event_id").substr(0, 512);
      if (type == "input_audio_buffer.append")
        append(event);
      else if (type == "input_audio_buffer.commit")
        commit();
      else if (type == "input_audio_buffer.clear")
        clear();
      else if (type == "session.update")
        update(event, false);
      else if (type == "transcription_session.update")
        update(event, true);
      else
        throw EventError("invalid_value",
                         fmt::format("'type' is '{}', expected an event of transcription sessions", shown(type)),
                         "type");
    } catch (const EventError& error) {
      send_error("invalid_request_error", error.code, error.what(), error.param);
    } catch (const HttpError& error) {
      send_error("invalid_request_error", "invalid_value", error.what());
    } catch (const ConfigError& error) {
      send_error("invalid_request_error", "invalid_value", error.what());
    }
    is_asking_late_ = true;
  }
  static Input parsed(const std::string& text) {
    try {
      return JsonObject(parse_json(text, "the event"), "the event").value();
    } catch (const Error& error) {
      throw EventError("invalid_json", error.what());
    }
  }
  static std::string text_of(const Input& event, const char* key) {
    const auto found = event.find(key);
    return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  void append(const Input& event) {
    const auto audio = event.find("audio");
    auto bytes =
        audio != event.end() && audio->is_string() ? decode_base64(audio->get_ref<const std::string&>()) : std::nullopt;
    if (!bytes) throw EventError("invalid_value", "expected base64 (RFC 4648)", "audio");
    last_audio_ = Clock::now();
    if (is_ending_) return;
    begin_part();
    sound_ = *std::move(bytes);
    fed_ = 0;
  }
  // Feeds at most `count` bytes of the last message, because the converted samples need more memory than bytes.
  void feed(std::size_t count) {
    const auto left = std::as_bytes(std::span(sound_)).subspan(fed_);
    parts_.back().session->feed(left.first(std::min(count, left.size())));
    fed_ += std::min(count, left.size());
    if (fed_ == sound_.size()) std::string().swap(sound_);
  }
  void commit() {
    if (is_ending_ || !is_current_ || !parts_.back().session->commit()) {
      throw EventError("input_audio_buffer_commit_empty", "the buffer is empty, expected audio before a commit");
    }
  }
  void clear() {
    if (is_current_ && !is_ending_) parts_.back().session->clear();
    send({{"type", "input_audio_buffer.cleared"}});
  }
  // Changes the settings that the event contains. The new settings apply to audio after the event.
  void update(const Input& event, bool is_beta) {
    static const auto kTranscription =
        names_of(transcribe_settings(), {"model", "language", "prompt", "temperature_increment_on_fallback",
                                         "temperature_inc", "vad", "vad_filter", "rules", "chunk_length"});
    static const auto kTurns = names_of(live_settings(), {"type", "eagerness"});
    const Input change =
        is_beta ? input_of_beta(member(event, "session")) : member(member(member(event, "session"), "audio"), "input");
    Json input = input_;  // noise_reduction is not supported and stays null
    take_settings(input, change, "format", {"type", "rate"});
    take_settings(input, change, "transcription", kTranscription);
    take_settings(input, change, "turn_detection", kTurns);
    // Check all new settings before any of them is applied.
    LiveOptions options = read_options(call_, input);
    ServedModel& model = find_model(input["transcription"].is_null() ? "" : text_of(input["transcription"], "model"));
    speech_.of(model).model->check(options.transcribe);
    finish_part();
    model_ = &model;
    input_ = std::move(input);
    options_ = std::move(options);
    Json response = session_json();
    if (is_beta) {
      response = {{"id", "sess_" + id_},
                  {"object", "realtime.transcription_session"},
                  {"input_audio_format", options_.format.samples == RawAudio::Samples::int16    ? "pcm16"
                                         : options_.format.samples == RawAudio::Samples::mu_law ? "g711_ulaw"
                                                                                                : "g711_alaw"},
                  {"input_audio_transcription", input_["transcription"]},
                  {"turn_detection", input_["turn_detection"]}};
    }
    send({{"type", is_beta ? "transcription_session.updated" : "session.updated"}, {"session", response}});
  }
  Json session_json() const {
    return {{"type", "transcription"},
            {"id", "sess_" + id_},
            {"object", "realtime.transcription_session"},
            {"audio", {{"input", input_}}},
            {"include", nullptr}};
  }

  // Starts a LiveSession with the current settings, unless a LiveSession is already running.
  void begin_part() {
    if (is_current_) return;
    options_.voice_activity = speech_.voice_activity;
    const auto on_event = [inbox = inbox_, number = parts_.size()](LiveEvent event) {
      inbox->put(News{number, std::move(event)});
    };
    parts_.push_back({.model = model_,
                      .finds_utterances = options_.finds_utterances,
                      .begin = seconds_,
                      .session = std::make_unique<LiveSession>(*speech_.of(*model_).model, model_->queue(), options_,
                                                               on_event, call_.client())});
    is_current_ = true;
  }
  void finish_part() {
    if (!std::exchange(is_current_, false)) return;
    LiveSession& session = *parts_.back().session;
    session.finish();
    seconds_ += session.seconds();
  }

  // The functions below send events to the client.

  struct Item {
    std::string sent = {};  // concatenation of all deltas that were sent
    Clock::time_point stopped = {};
  };

  void read(News& news) {
    using Kind = LiveEvent::Kind;
    const LiveEvent& event = news.event;
    Part& part = parts_[news.number];
    const std::string item = fmt::format("item_{}_{}_{}", id_.substr(0, 8), news.number, event.utterance);
    const bool is_found = event.has_speech && part.finds_utterances;
    switch (event.kind) {
      case Kind::started:
        if (is_found) send_turn("speech_started", item, "audio_start_ms", part.begin + event.start);
        break;
      case Kind::stopped:
        if (is_found) send_turn("speech_stopped", item, "audio_end_ms", part.begin + event.end);
        items_[item].stopped = Clock::now();
        send_committed(item);
        break;
      case Kind::partial: send_delta(item, event.text); break;
      case Kind::final_text:
        speech_.of(*part.model).count_recording(event.end - event.start);
        speech_.of(*part.model).count_text(seconds_since(items_[item].stopped));
        send_completed(item, event);
        break;
      case Kind::failed:
        send({{"type", "conversation.item.input_audio_transcription.failed"},
              {"item_id", item},
              {"content_index", 0},
              {"error",
               {{"type", "server_error"},
                {"code", "transcription_failed"},
                {"message", without_folders(why(event.failure), call_.parts().settings)}}}});
        items_.erase(item);
        break;
      case Kind::ended: part.session.reset(); break;
    }
  }
  static std::string why(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      return error.what();
    }
  }
  void send_turn(const char* type, const std::string& item, const char* key, double seconds) {
    send(
        {{"type", fmt::format("input_audio_buffer.{}", type)}, {"item_id", item}, {key, std::llround(seconds * 1000)}});
  }
  void send_committed(const std::string& item) {
    const Json previous = last_item_.empty() ? Json(nullptr) : Json(last_item_);
    send({{"type", "input_audio_buffer.committed"}, {"item_id", item}, {"previous_item_id", previous}});
    send_item("conversation.item.added", item, nullptr, previous);
    last_item_ = item;
  }
  void send_item(const char* type, const std::string& item, const Json& transcript, const Json& previous) {
    send({{"type", type},
          {"previous_item_id", previous},
          {"item",
           {{"id", item},
            {"type", "message"},
            {"role", "user"},
            {"status", "completed"},
            {"content", Json::array({{{"type", "input_audio"}, {"transcript", transcript}}})}}}});
  }
  // Sends the end of `text` that has not been sent yet. Words that were sent cannot be changed.
  void send_delta(const std::string& item, const std::string& text) {
    std::string& sent = items_[item].sent;
    if (text.size() <= sent.size() || !text.starts_with(sent)) return;
    send({{"type", "conversation.item.input_audio_transcription.delta"},
          {"item_id", item},
          {"content_index", 0},
          {"delta", replace_invalid_utf8(text.substr(sent.size()))}});
    sent = text;
  }
  void send_completed(const std::string& item, const LiveEvent& event) {
    const std::string text = replace_invalid_utf8(event.text);
    send_delta(item, text);
    send({{"type", "conversation.item.input_audio_transcription.completed"},
          {"item_id", item},
          {"content_index", 0},
          {"transcript", text},
          {"usage", {{"type", "duration"}, {"seconds", event.end - event.start}}}});
    send_item("conversation.item.done", item, text, nullptr);
    items_.erase(item);
  }

  // A LiveSession and its audio: all audio between two changes of settings.
  struct Part {
    ServedModel* model;
    bool finds_utterances;
    double begin;                          // start of this part in the connection's audio, in seconds
    std::unique_ptr<LiveSession> session;  // null after its last event
  };

  Call& call_;
  const SpeechServer& speech_;
  std::string id_;
  ServedModel* model_;
  Json input_;
  LiveOptions options_;
  std::shared_ptr<Mailbox<std::variant<Message, News>>> inbox_;
  std::vector<Part> parts_;
  bool is_current_ = false;  // whether parts_.back() accepts audio
  std::string sound_;        // audio of the last message
  std::size_t fed_ = 0;      // number of bytes of sound_ that were fed
  double seconds_ = 0;       // length of the audio in finished parts
  std::map<std::string, Item> items_;
  std::string last_item_, client_event_;
  std::uint64_t events_ = 0;
  Clock::time_point last_audio_ = Clock::now();
  bool is_asking_late_ = false;  // whether to request the next message when the backlog is short
  bool is_ending_ = false;       // whether the server is shutting down and audio is ignored
  bool is_over_ = false;
};

asio::awaitable<void> realtime(Call& call) {
  RealtimeConnection connection(call);
  co_await connection.run();
}

}  // namespace openai_realtime

std::vector<Route> openai_realtime_routes(const SpeechServer& server) {
  return {{.method = "GET",
           .path = "/v1/realtime",
           .handle = &openai_realtime::realtime,
           .error = &openai_error,
           .limit = {server.live_sessions, "--max-live-sessions"}}};
}

}  // namespace encdec::serve

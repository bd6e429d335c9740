#include "serve/wyoming.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/speech/live/live_session.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "serve/metrics.h"
#include "serve/routes.h"
#include "serve/transcription_request.h"

namespace encdec::serve {
namespace wyoming {

using Json = nlohmann::ordered_json;
using Socket = asio::generic::stream_protocol::socket;

constexpr std::size_t kMaxJson = 64 << 10, kMaxPayload = 4 << 20;  // bytes

struct Event {
  std::string type;
  JsonObject data;
  std::string payload;
};

HttpError broken(const std::string& message) {
  return {400, message};
}

JsonObject parsed(const std::string& text) {
  try {
    return {parse_json(text, "an event"), "an event"};
  } catch (const Error& error) {
    throw broken(error.what());
  }
}

// One connection. The data of an event is in its line, behind it, or both.
class Connection {
 public:
  Connection(Socket socket, ServiceParts parts)
      : socket_(std::move(socket)), parts_(parts), guard_(socket_.get_executor()) {}

  asio::awaitable<void> run() {
    while (!parts_.is_draining) {
      std::optional<Event> event = co_await read();
      if (!event) co_return;
      std::optional<std::string> problem;
      try {
        if (event->type == "describe")
          co_await write("info", info());
        else if (event->type == "ping")
          co_await write("pong", event->data.value());
        else if (event->type == "transcribe")
          read_options(Parameters(event->data));
        else if (event->type == "audio-start")
          begin(event->data);
        else if (event->type == "audio-chunk")
          add(*event);
        else if (event->type == "audio-stop")
          co_await end();
      } catch (const HttpError& error) {
        problem = error.what();
      } catch (const Error& error) {
        problem = error.what();
      }
      if (!problem) continue;
      session_.reset();
      Json data = {{"text", without_folders(*problem, parts_.settings)}};
      co_await write("error", std::move(data));
    }
  }

 private:
  // Closes the socket unless the next step ends in time.
  void expect_within(std::chrono::seconds time) {
    guard_.expires_after(time);
    guard_.async_wait([this](boost::system::error_code cancelled) {
      boost::system::error_code ignored;
      if (!cancelled) socket_.close(ignored);
    });
  }

  asio::awaitable<std::optional<Event>> read() {
    expect_within(parts_.settings.limits.live_idle_time);
    auto line = asio::dynamic_buffer(read_, kMaxJson);
    const auto [error, size] =
        co_await asio::async_read_until(socket_, line, '\n', asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::not_found) throw broken(fmt::format("a line of more than {} bytes", kMaxJson));
    if (error) co_return std::nullopt;
    const JsonObject head = parsed(co_await take(size));
    const auto length = [&head](const char* key, std::size_t most) {
      return static_cast<std::size_t>(
          head.integer(key, {.min = 0, .max = static_cast<std::int64_t>(most)}).value_or(0));
    };
    const std::size_t data_bytes = length("data_length", kMaxJson),
                      payload_bytes = length("payload_length", kMaxPayload);
    nlohmann::json data = nlohmann::json::object();
    if (const auto own = head.object("data")) data = own->value();
    if (data_bytes > 0) data.update(parsed(co_await take(data_bytes)).value());
    std::string payload = co_await take(payload_bytes);
    co_return Event{head.required_string("type"), JsonObject(std::move(data), "an event"), std::move(payload)};
  }
  // Returns the next bytes.
  asio::awaitable<std::string> take(std::size_t bytes) {
    if (read_.size() < bytes) {
      auto buffer = asio::dynamic_buffer(read_);
      co_await asio::async_read(socket_, buffer, asio::transfer_exactly(bytes - read_.size()), asio::use_awaitable);
    }
    std::string taken = read_.substr(0, bytes);
    read_.erase(0, bytes);
    co_return taken;
  }
  asio::awaitable<void> write(const char* type, Json data) {
    const std::string bytes = to_text({{"type", type}, {"version", "1.10.0"}, {"data", std::move(data)}}) + "\n";
    expect_within(parts_.settings.http.write_time);
    co_await asio::async_write(socket_, asio::buffer(bytes), asio::use_awaitable);
  }

  Json info() const {
    const Json attribution = {{"name", "encdec"}, {"url", ""}};
    Json models = Json::array();
    for (const auto& model : parts_.models.all()) {
      if (!model->transcribes()) continue;
      models.push_back({{"name", model->name()},
                        {"attribution", attribution},
                        {"installed", true},
                        {"description", model->name()},
                        {"version", ENCDEC_VERSION},
                        {"languages", model->speech().languages()}});
    }
    Json info = {{"asr", Json::array({{{"name", "encdec"},
                                       {"attribution", attribution},
                                       {"installed", true},
                                       {"description", "encdec"},
                                       {"version", ENCDEC_VERSION},
                                       {"models", models},
                                       {"supports_transcript_streaming", false},
                                       {"requires_external_vad", false}}})}};
    for (const char* other : {"tts", "handle", "intent", "wake", "mic", "snd"}) info[other] = Json::array();
    return info;
  }

  void read_options(const Parameters& parameters) {
    model_ = parameters.text("name");
    options_.transcribe = read_transcribe_options(parameters, parts_.settings);
    options_.transcribe.initial_prompt = parameters.short_text("context");
  }
  void begin(const JsonObject& data) {
    const std::int64_t width = data.integer("width").value_or(2);
    if (width != 2) throw broken(fmt::format("samples of {} bytes, expected 2", width));
    const auto number = [&data](const char* key, std::int64_t otherwise) {
      return static_cast<int>(data.integer(key, {.min = 1, .max = 1'000'000}).value_or(otherwise));
    };
    session_.reset();
    options_.format = {.sample_rate = number("rate", 16'000), .channels = number("channels", 1)};
    ServedModel& model = parts_.models.transcriber(model_);
    events_ = std::make_shared<Mailbox<LiveEvent>>(socket_.get_executor());
    session_ = std::make_unique<LiveSession>(model.speech(), model.queue(), options_,
                                             [events = events_](LiveEvent event) { events->put(std::move(event)); });
    metrics_ = &model.metrics();
  }
  void add(const Event& event) {
    if (!session_) begin(event.data);
    session_->feed(std::as_bytes(std::span(event.payload)));
  }
  asio::awaitable<void> end() {
    std::string text, language;
    if (session_) {
      session_->finish();
      guard_.cancel();
      for (bool is_over = false; !is_over;) {
        LiveEvent event = *co_await events_->take();
        is_over = event.kind == LiveEvent::Kind::ended;
        if (event.kind == LiveEvent::Kind::failed) std::rethrow_exception(event.failure);
        if (event.kind != LiveEvent::Kind::final_text) continue;
        metrics_->count_recording(event.end - event.start);
        language = event.transcript.language;
        text += (text.empty() || event.text.empty() ? "" : " ") + event.text;
      }
      session_.reset();
    }
    Json data = {{"text", text}};
    if (!language.empty()) data["language"] = language;
    co_await write("transcript", std::move(data));
  }

  Socket socket_;
  ServiceParts parts_;
  asio::steady_timer guard_;
  std::string read_;  // bytes that have arrived
  std::string model_;
  LiveOptions options_ = {.finds_utterances = false, .partials = Partials::none};
  std::shared_ptr<Mailbox<LiveEvent>> events_;
  std::unique_ptr<LiveSession> session_;  // null between two recordings
  const ModelMetrics* metrics_ = nullptr;
};

}  // namespace wyoming

asio::awaitable<void> serve_wyoming(asio::generic::stream_protocol::socket socket, std::string peer, ServiceParts parts,
                                    Load& load) {
  try {
    const std::unique_ptr<RequestTicket> ticket = load.admit_session(peer);
    wyoming::Connection connection(std::move(socket), parts);
    co_await connection.run();
  } catch (const std::exception& error) {
    if (!parts.settings.quiet) spdlog::info("{} wyoming: {}", peer, without_folders(error.what(), parts.settings));
  }
}

}  // namespace encdec::serve

#pragma once

#include <encdec/models/checkpoint/json.h>
#include <encdec/models/checkpoint/written_json_fwd.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/exchange.h"
#include "serve/served_model.h"
#include "serve/settings.h"
#include "serve/turns.h"
#include "serve/unread_answers.h"
#include "serve/work.h"

namespace encdec::serve {

class Downloads;
class Metrics;

// What handlers have in common.
struct ServiceParts {
  const ServeSettings& settings;
  const ModelSet& models;
  Metrics& metrics;
  Downloads& downloads;
  UnreadAnswers& unread;
  const std::atomic<bool>& has_stopped;  // nothing is answered any more
};

// One request on its way through a handler: a coroutine that runs on one of the service's threads at a time. What it
// throws becomes the answer, in its protocol's form.
class Call : public std::enable_shared_from_this<Call> {
 public:
  // Runs on `turns`, within a CancellationScope: whatever takes long ends when the time of the request is over, the
  // client has gone, or the service stops.
  Call(const ServiceParts& parts, std::shared_ptr<Exchange> exchange, Turns& turns);

  const ServiceParts& parts() const { return parts_; }
  const ServiceLimits& limits() const { return parts_.settings.limits; }
  const HttpRequest& request() const { return exchange_->request(); }
  const asio::any_io_executor& executor() const { return executor_; }
  // The body, a JSON object. Throws HttpError, 400 or 415.
  JsonObject json() const;
  // Words of the path that stand for the asterisks of the route's.
  std::vector<std::string> path_words;

  // Throws HttpError, 413, for more than a request may have.
  void check_inputs(std::size_t count) const;
  // The same for more than an answer may have, before it is made.
  void check_answer(const ServedModel& model, std::size_t inputs, const GenerateOptions& options) const;
  // Counts bytes of the answer as they are made. Throws HttpError, 413 for more than an answer may have, 503 where the
  // answers that wait to be read leave no room.
  void count(std::size_t bytes);

  // Generates from all inputs. The results are in the order of the inputs; each is shown to `on_result`, if it is not
  // empty, as it comes.
  using OnResult = std::function<void(std::size_t input, GenerateResult& result)>;
  asio::awaitable<std::vector<GenerateResult>> generate(ServedModel& model, std::vector<GenerateInput> inputs,
                                                        GenerateOptions options, OnResult on_result = {});
  asio::awaitable<std::vector<EmbedResult>> embed(ServedModel& model, std::vector<std::string> texts,
                                                  EmbedOptions options);
  // Generates, and tells tokens too: news by news, by next().
  Work start(ServedModel& model, std::span<const GenerateInput> inputs, const GenerateOptions& options);
  asio::awaitable<WorkNews> next(Work& work) { return work.next(deadline_); }
  // Transcribes; the whole transcript, whose segments are shown to `on_segments`, if it is not empty, as they come.
  using OnSegments = std::function<void(std::span<const TranscriptSegment> segments)>;
  Work start(ServedModel& model, Recording recording, const TranscribeOptions& options);
  asio::awaitable<Transcript> transcript(Work& work, OnSegments on_segments = {});

  // Answers.
  void respond(const WrittenJson& json, int status = 200);
  // Answers with JSON: `begin`, the elements of a list, which have been counted, and `end`.
  void respond_list(std::string begin, std::vector<std::string> elements, const std::string& end);
  void answer(HttpResponse response);
  // With an error, whatever was answered before.
  void refuse(HttpResponse response);
  // The client hears something every few seconds until it is answered, for those that give up soon: white space, with
  // which JSON may begin, behind a head that says 200.
  void comfort();
  // Answers with server-sent events (WHATWG HTML, section 9.2): of one line each, and the end.
  void begin_events();
  void send_event(const WrittenJson& json);
  void send_line(std::string_view line);
  void finish() { exchange_->finish(); }

  // Nobody waits for the answer any more: what is connected to the slot is cancelled. From any thread.
  void abandon();
  asio::cancellation_slot slot() { return abandoned_.slot(); }

 private:
  Turns::Owner owner() const;
  std::shared_ptr<UnreadAnswers::Part> new_part() const;
  static asio::awaitable<void> write_spaces(std::shared_ptr<Call> call);
  template <class Result>
  asio::awaitable<std::vector<Result>> results_of(Work& work, std::size_t count,
                                                  std::function<void(std::size_t, Result&)> on_result);

  ServiceParts parts_;
  std::shared_ptr<Exchange> exchange_;
  std::uint64_t client_;  // as RequestQueue::submit() has it
  Clock::time_point deadline_;
  std::shared_ptr<std::atomic<bool>> is_abandoned_ = std::make_shared<std::atomic<bool>>(false);
  asio::any_io_executor executor_;
  std::shared_ptr<UnreadAnswers::Part> counted_;  // bytes of the answer so far
  asio::steady_timer comfort_;
  bool has_spaces_ = false;  // the answer has begun with them
  bool is_over_ = false;     // nothing is to be written behind the answer
  asio::cancellation_signal abandoned_;
};

// Text that is one line of JSON; what is not UTF-8 is replaced.
std::string to_text(const WrittenJson& json);

}  // namespace encdec::serve

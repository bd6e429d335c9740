#include "server/work.h"

#include <encdec/engine/base/error.h>

#include <algorithm>

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

}  // namespace

// The state of one source, which its callbacks keep for the metrics. Only the worker that computes the source uses it.
struct Work::SourceState {
  Clock::time_point since = Clock::now();  // time of submit(), then time when the worker started
  std::size_t tokens = 0;                  // number of tokens of the source
  bool has_first_token = false;            // final tokens were put into the mailbox
};

// The callbacks of a queue may refer to the metrics of its model, which outlives the queue.
template <class Result>
Handlers<Result> Work::handlers(const ModelMetrics& metrics, std::size_t first, std::shared_ptr<SourceStates> states,
                                void (*count)(const ModelMetrics& metrics, const Result& result,
                                              double seconds)) const {
  return {.on_result =
              [news = news_, &metrics, first, states, count](std::size_t source, Result result) {
                if (count != nullptr) count(metrics, result, seconds_since((*states)[source].since));
                news->put({first + source, std::move(result)});
              },
          .on_failure =
              [news = news_, first](std::size_t source, std::exception_ptr failure) {
                news->put({first + source, failure});
              },
          .on_start =
              [&metrics, states](std::size_t source, std::size_t tokens) {
                metrics.count_start(tokens, seconds_since((*states)[source].since));
                (*states)[source] = {.tokens = tokens};
              }};
}

Handlers<VectorResult> Work::vector_handlers(const ModelMetrics& metrics, std::size_t texts) const {
  return handlers<VectorResult>(metrics, 0, std::make_shared<SourceStates>(texts), nullptr);
}

Work Work::generate(const asio::any_io_executor& executor, ServedModel& model, std::span<const GenerateInput> inputs,
                    const GenerateOptions& options, std::uint64_t client) {
  Work work(executor);
  const auto count = [](const ModelMetrics& metrics, const GenerateResult& result, double seconds) {
    std::size_t longest = 0;
    for (const Hypothesis& hypothesis : result.hypotheses) {
      metrics.count_tokens(hypothesis.token_ids.size());
      longest = std::max(longest, hypothesis.token_ids.size());
    }
    metrics.count_result(longest, seconds);
  };
  const auto states = std::make_shared<SourceStates>(inputs.size());
  work.requests_.push_back(
      model.queue().submit(inputs, options, work.handlers<GenerateResult>(model.metrics(), 0, states, count), client));
  return work;
}

Work Work::stream(const asio::any_io_executor& executor, ServedModel& model, std::span<const GenerateInput> inputs,
                  const GenerateOptions& options, std::uint64_t client) {
  Work work(executor);
  const ModelMetrics& metrics = model.metrics();
  const auto count = [](const ModelMetrics& all, const GenerateResult& result, double seconds) {
    all.count_result(result.hypotheses.front().token_ids.size(), seconds);
  };
  for (std::size_t number = 0; number < inputs.size(); ++number) {
    const auto states = std::make_shared<SourceStates>(1);
    GenerateHandlers handlers = work.handlers<GenerateResult>(metrics, number, states, count);
    handlers.on_tokens = [news = work.news_, &metrics, states, number, begin = Clock::now()](
                             std::size_t, std::span<const std::int32_t> tokens, std::span<const float> scores) {
      SourceState& state = states->front();
      if (!std::exchange(state.has_first_token, true)) metrics.count_first_token(seconds_since(begin));
      metrics.count_tokens(tokens.size());
      news->put({number, FinalTokens{.ids = TokenIds(tokens.begin(), tokens.end()),
                                     .scores = std::vector<float>(scores.begin(), scores.end()),
                                     .source_tokens = state.tokens}});
    };
    work.requests_.push_back(model.queue().submit(inputs.subspan(number, 1), options, std::move(handlers), client));
  }
  return work;
}

Work Work::transcribe(const asio::any_io_executor& executor, ServedModel& model, Recording recording,
                      const TranscribeOptions& options, std::uint64_t client) {
  Work work(executor);
  const ModelMetrics& metrics = model.metrics();
  work.requests_.push_back(
      model.speech().submit(model.queue(), std::move(recording), options,
                            {.on_result =
                                 [news = work.news_, &metrics](Transcript transcript) {
                                   metrics.count_recording(transcript.duration);
                                   news->put({0, std::move(transcript)});
                                 },
                             .on_failure =
                                 [news = work.news_](std::exception_ptr failure) {
                                   news->put({0, fault_of_recording(std::move(failure))});
                                 },
                             .on_segments =
                                 [news = work.news_, &metrics](std::span<const TranscriptSegment> segments) {
                                   for (const auto& segment : segments) metrics.count_tokens(segment.tokens.size());
                                   news->put({0, FinalSegments(segments.begin(), segments.end())});
                                 }},
                            client));
  return work;
}

asio::awaitable<WorkNews> Work::next(Clock::time_point deadline) {
  std::optional<WorkNews> news = co_await news_->take(deadline);
  if (!news) throw out_of_time();
  if (const auto* failure = std::get_if<std::exception_ptr>(&news->what)) std::rethrow_exception(*failure);
  co_return std::move(*news);
}

}  // namespace encdec::serve

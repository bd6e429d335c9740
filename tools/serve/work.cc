#include "work.h"

#include "http/message.h"

namespace encdec::serve {
namespace {

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::size_t generated_tokens(const GenerateResult& result) {
  std::size_t count = 0;
  for (const Hypothesis& hypothesis : result.hypotheses) count += hypothesis.token_ids.size();
  return count;
}

std::size_t generated_tokens(const EmbedResult& /*result*/) {
  return 0;
}

}  // namespace

// What becomes of each source; only the worker that has it looks.
struct Work::SourceState {
  Clock::time_point since = Clock::now();  // it was submitted, then: its turn came
  std::size_t tokens = 0;
  bool has_told = false;
};

// The model outlives its queue's handlers.
template <class Handlers, class Result>
Handlers Work::handlers(const ServedModel& model, const SourceStates& states) const {
  const ModelMetrics& metrics = model.metrics();
  return {.on_result =
              [news = news_, &metrics, states](std::size_t source, Result result) {
                metrics.count_result(result.source_tokens, generated_tokens(result),
                                     seconds_since((*states)[source].since));
                news->put({source, std::move(result)});
              },
          .on_failure =
              [news = news_](std::size_t source, std::exception_ptr failure) {
                news->put({source, std::move(failure)});
              },
          .on_start =
              [&metrics, states](std::size_t source, std::size_t tokens) {
                SourceState& state = (*states)[source];
                metrics.count_start(seconds_since(state.since));
                state = {.tokens = tokens};
              }};
}

Work Work::generate(const asio::any_io_executor& executor, ServedModel& model, std::span<const GenerateInput> inputs,
                    const GenerateOptions& options, bool with_tokens, std::uint64_t client) {
  Work work(executor);
  const auto states = std::make_shared<std::vector<SourceState>>(inputs.size());
  auto handlers = work.handlers<GenerateHandlers, GenerateResult>(model, states);
  if (with_tokens) {
    handlers.on_tokens = [news = work.news_, &metrics = model.metrics(), states, begin = Clock::now()](
                             std::size_t source, std::span<const std::int32_t> tokens, std::span<const float> scores) {
      SourceState& state = (*states)[source];
      if (!std::exchange(state.has_told, true)) metrics.count_first_token(seconds_since(begin));
      news->put({source, CertainTokens{.ids = TokenIds(tokens.begin(), tokens.end()),
                                       .scores = std::vector<float>(scores.begin(), scores.end()),
                                       .source_tokens = state.tokens}});
    };
  }
  work.request_ = model.queue().submit(inputs, options, std::move(handlers), client);
  return work;
}

Work Work::embed(const asio::any_io_executor& executor, ServedModel& model, std::span<const std::string> texts,
                 const EmbedOptions& options, std::uint64_t client) {
  Work work(executor);
  const auto states = std::make_shared<std::vector<SourceState>>(texts.size());
  work.request_ =
      model.queue().submit(texts, options, work.handlers<EmbedHandlers, EmbedResult>(model, states), client);
  return work;
}

asio::awaitable<WorkNews> Work::next(Clock::time_point deadline) {
  std::optional<WorkNews> news = co_await news_->take(deadline);
  if (!news) throw HttpError(504, "not done within the time that a request may take");
  if (const auto* failure = std::get_if<std::exception_ptr>(&news->what)) std::rethrow_exception(*failure);
  co_return std::move(*news);
}

}  // namespace encdec::serve

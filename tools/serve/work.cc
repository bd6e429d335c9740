#include "work.h"

#include "http/message.h"

namespace encdec::serve {
namespace {

// The time since the last call, in seconds.
double lap(Clock::time_point& since) {
  const Clock::time_point now = Clock::now();
  return std::chrono::duration<double>(now - std::exchange(since, now)).count();
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

template <class Handlers, class Result>
Handlers Work::handlers(const ServedModel& model, std::size_t sources) const {
  // When each source was submitted, and then when its turn came. The model outlives its queue's handlers.
  const auto times = std::make_shared<std::vector<Clock::time_point>>(sources, Clock::now());
  const ModelMetrics& metrics = model.metrics();
  return {.on_result =
              [news = news_, &metrics, times](std::size_t source, Result result) {
                metrics.count_result(result.source_tokens, generated_tokens(result), lap((*times)[source]));
                news->put({source, std::move(result)});
              },
          .on_failure =
              [news = news_](std::size_t source, std::exception_ptr failure) {
                news->put({source, std::move(failure)});
              },
          .on_start = [&metrics, times](std::size_t source) { metrics.count_start(lap((*times)[source])); }};
}

Work Work::generate(const asio::any_io_executor& executor, ServedModel& model, std::span<const GenerateInput> inputs,
                    const GenerateOptions& options, bool with_tokens, std::uint64_t client) {
  Work work(executor);
  auto handlers = work.handlers<GenerateHandlers, GenerateResult>(model, inputs.size());
  if (with_tokens) {
    handlers.on_tokens = [news = work.news_, &metrics = model.metrics(), begin = Clock::now(), is_first = true](
                             std::size_t source, std::span<const std::int32_t> tokens,
                             std::span<const float> scores) mutable {
      if (std::exchange(is_first, false)) metrics.count_first_token(lap(begin));
      news->put({source, CertainTokens{.ids = TokenIds(tokens.begin(), tokens.end()),
                                       .scores = std::vector<float>(scores.begin(), scores.end())}});
    };
  }
  work.request_ = model.queue().submit(inputs, options, std::move(handlers), client);
  return work;
}

Work Work::embed(const asio::any_io_executor& executor, ServedModel& model, std::span<const std::string> texts,
                 const EmbedOptions& options, std::uint64_t client) {
  Work work(executor);
  work.request_ =
      model.queue().submit(texts, options, work.handlers<EmbedHandlers, EmbedResult>(model, texts.size()), client);
  return work;
}

asio::awaitable<WorkNews> Work::next(Clock::time_point deadline) {
  std::optional<WorkNews> news = co_await news_->take(deadline);
  if (!news) throw HttpError(504, "not done within the time that a request may take");
  if (const auto* failure = std::get_if<std::exception_ptr>(&news->what)) std::rethrow_exception(*failure);
  co_return std::move(*news);
}

}  // namespace encdec::serve

#include "work.h"

#include "http/message.h"

namespace encdec::serve {

Work Work::generate(const asio::any_io_executor& executor, RequestQueue& queue, std::span<const GenerateInput> inputs,
                    const GenerateOptions& options, bool with_tokens, std::uint64_t client) {
  Work work(executor);
  GenerateHandlers handlers = {.on_result =
                                   [news = work.news_](std::size_t source, GenerateResult result) {
                                     news->put({source, std::move(result)});
                                   },
                               .on_failure =
                                   [news = work.news_](std::size_t source, std::exception_ptr failure) {
                                     news->put({source, std::move(failure)});
                                   }};
  if (with_tokens) {
    handlers.on_tokens = [news = work.news_](std::size_t source, std::span<const std::int32_t> tokens,
                                             std::span<const float> scores) {
      news->put({source, CertainTokens{.ids = TokenIds(tokens.begin(), tokens.end()),
                                       .scores = std::vector<float>(scores.begin(), scores.end())}});
    };
  }
  work.request_ = queue.submit(inputs, options, std::move(handlers), client);
  return work;
}

Work Work::embed(const asio::any_io_executor& executor, RequestQueue& queue, std::span<const std::string> texts,
                 const EmbedOptions& options, std::uint64_t client) {
  Work work(executor);
  EmbedHandlers handlers = {.on_result =
                                [news = work.news_](std::size_t text, EmbedResult result) {
                                  news->put({text, std::move(result)});
                                },
                            .on_failure =
                                [news = work.news_](std::size_t text, std::exception_ptr failure) {
                                  news->put({text, std::move(failure)});
                                }};
  work.request_ = queue.submit(texts, options, std::move(handlers), client);
  return work;
}

asio::awaitable<WorkNews> Work::next(Clock::time_point deadline) {
  std::optional<WorkNews> news = co_await news_->take(deadline);
  if (!news) throw HttpError(504, "not done within the time that a request may take");
  if (const auto* failure = std::get_if<std::exception_ptr>(&news->what)) std::rethrow_exception(*failure);
  co_return std::move(*news);
}

}  // namespace encdec::serve

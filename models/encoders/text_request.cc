#include "encdec/models/encoders/text_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/session/token_rows.h"

namespace encdec {
namespace {

Session::Encoded encode_jobs(Session& session, std::span<const DecodeJob> jobs, bool first_rows) {
  std::vector<TokenIds> texts;
  std::vector<std::size_t> second_segments;
  for (const DecodeJob& job : jobs) {
    texts.push_back(job.prompt.source);
    second_segments.push_back(job.prompt.second_segment);
  }
  return session.encode(
      texts, {.second_segments = second_segments, .first_rows = first_rows && session.model().config.gathers_rows});
}

// Passes each job its rows: one row, or a row for each of its tokens.
void take_each(const Tensor& rows, bool is_one, std::span<const DecodeJob> jobs, const RequestState::Take& take) {
  Dim row = 0;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const Dim count = is_one ? 1 : static_cast<Dim>(jobs[job].prompt.source.size());
    take(job, rows.slice(std::exchange(row, row + count), count));
  }
}

}  // namespace

void TextRequest::read_rows(Session& session, std::span<const DecodeJob> jobs, const Take& take) {
  take_each(encode_jobs(session, jobs, false).hidden, false, jobs, take);
}

void TextRequest::read_first_rows(Session& session, std::span<const DecodeJob> jobs, const Take& take) {
  take_each(encode_jobs(session, jobs, true).hidden, true, jobs, take);
}

void TextRequest::read_logits(Session& session, std::span<const DecodeJob> jobs, const Take& take) {
  const bool of_texts = session.model().config.head.kind == HeadKind::sequences;
  take_each(session.classify(encode_jobs(session, jobs, of_texts)), of_texts, jobs, take);
}

void TextRequest::read_weights(Session& session, std::span<const DecodeJob> jobs, const Take& take) {
  session.weigh_vocabulary(encode_jobs(session, jobs, false), take);
}

TextRequest::TextRequest(const Model& model, Settings settings, FailureHandler on_failure, StartHandler on_start)
    : RequestState(model, std::move(on_failure), std::move(on_start)),
      settings_(std::move(settings)),
      max_length_(model.modules().max_length()) {
  const TransformerConfig& config = model.config();
  if (config.architecture != Architecture::encoder_only && settings_.compute != read_logits) {
    refuse<ConfigError>(parts().origin, "{} has a decoder, expected an encoder-only model", config.model_type);
  }
  if (parts().tokenizer == nullptr) refuse<TokenizerError>(parts().origin, "no tokenizer files");
  check_batching(settings_.batch_size, 1);
  check_range("max_length", settings_.max_length, 0, std::numeric_limits<int>::max());
  for (const auto limit : {Dim{settings_.max_length}, config.encoder.position_limit().value_or(0)}) {
    const auto own = static_cast<std::size_t>(limit);
    if (own > 0) max_length_ = max_length_ == 0 ? own : std::min(max_length_, own);
  }
}

Encoding TextRequest::read(const std::string& text, const std::string* second, std::size_t number,
                           std::size_t max_length, FirstText& last) const {
  EncodeOptions options{.max_length = max_length, .truncation = settings_.truncation};
  if (settings_.long_texts == LongSources::truncate_left) options.truncation_side = TruncationSide::left;
  if (settings_.long_texts == LongSources::truncate_right) options.truncation_side = TruncationSide::right;
  const Tokenizer& tokenizer = *parts().tokenizer;
  try {
    if (second != nullptr) {
      if (last.text != &text) last = {&text, tokenizer.encode_segment(settings_.prompt + text)};
      return tokenizer.join_pair(last.tokens, tokenizer.encode_segment(*second), options);
    }
    const std::string first = settings_.prompt + text;
    return settings_.with_ranges ? tokenizer.encode_with_ranges(first, options)
                                 : Encoding{tokenizer.encode(first, options)};
  } catch (const InputError& error) {
    throw InputError(fmt::format("text {}: {}", number, error.what()));
  }
}

void TextRequest::check(const TokenIds& ids, std::size_t number) const {
  const std::size_t limit = max_length_;
  if (limit != 0 && ids.size() > limit) {
    throw InputError(fmt::format("text {}: {} tokens, expected at most {}", number, ids.size(), limit));
  }
  check_not_empty(ids, "text", number);  // without a tokenizer's special tokens, an empty text has no tokens
  check_tokens(ids, parts().network.config.encoder, "text", number);
  check_end(ids, parts().network.config.head, "text", number);
}

Encoding TextRequest::encode(const std::string& text, const std::string* second, std::size_t number,
                             FirstText& last) const {
  const std::size_t max_length = settings_.long_texts == LongSources::error ? 0 : max_length_;
  Encoding encoding = read(text, second, number, max_length, last);
  check(encoding.ids, number);
  return encoding;
}

std::vector<Encoding> TextRequest::encode_windows(const std::string& text, std::size_t number) const {
  const std::size_t limit = max_length_, stride = settings_.stride;
  FirstText none;
  if (stride == 0 || limit == 0) return {encode(text, nullptr, number, none)};
  const Encoding whole = read(text, nullptr, number, 0, none);
  const std::size_t special = whole.special_before + whole.special_after, count = whole.ids.size() - special;
  const std::size_t room = limit - std::min(limit, special);
  if (2 * stride > room) {
    throw InputError(
        fmt::format("stride {}, expected at most {}: half of the text tokens of a window", stride, room / 2));
  }
  const auto window_of = [&](const auto& all, std::size_t begin, std::size_t end) {
    const auto text_begin = all.begin() + static_cast<std::ptrdiff_t>(whole.special_before);
    auto part = std::vector(all.begin(), text_begin);
    part.insert(part.end(), text_begin + static_cast<std::ptrdiff_t>(begin),
                text_begin + static_cast<std::ptrdiff_t>(end));
    part.insert(part.end(), all.end() - static_cast<std::ptrdiff_t>(whole.special_after), all.end());
    return part;
  };
  std::vector<Encoding> windows;
  for (std::size_t begin = 0; begin == 0 || begin + stride < count; begin += room - stride) {
    const std::size_t end = std::min(begin + room, count);
    windows.push_back({.ids = window_of(whole.ids, begin, end),
                       .ranges = window_of(whole.ranges, begin, end),
                       .special_before = whole.special_before,
                       .special_after = whole.special_after});
    check(windows.back().ids, number);
  }
  return windows;
}

VectorRequest::VectorRequest(const Model& model, Settings settings, Handlers<VectorResult> handlers)
    : TextRequest(model, std::move(settings), std::move(handlers.on_failure), std::move(handlers.on_start)),
      handlers_(std::move(handlers)) {}

DecodeJob VectorRequest::job(const std::string& text, const std::string* second, std::size_t index,
                             FirstText& last) const {
  poll_cancelled();
  Encoding encoding = encode(text, second, index + 1, last);
  DecodeJob job{.index = index};
  job.prompt.source_tokens = encoding.ids.size();
  job.prompt.second_segment = encoding.second_segment;
  job.prompt.source = std::move(encoding.ids);
  return job;
}

}  // namespace encdec

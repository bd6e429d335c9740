#include "encdec/encoders/text_request.h"

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

// Encodes the texts of all jobs in one batch. If `first_rows` is true and the network supports it, computes only the
// first row of each text.
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

// Passes each job's rows to `take`: one row if `is_one`, else one row per token.
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

RequestState::Compute TextRequest::read_pooled_rows(const Model& model) {
  return model.config().gathers_rows && model.modules().reads_first_row() ? read_first_rows : read_rows;
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
  // The smallest of all limits applies; 0 means no limit.
  for (const auto limit : {Dim{settings_.max_length}, config.encoder.position_limit().value_or(0)}) {
    const auto own = static_cast<std::size_t>(limit);
    if (own > 0) max_length_ = max_length_ == 0 ? own : std::min(max_length_, own);
  }
}

EncodeOptions TextRequest::encode_options() const {
  const LongSources long_texts = settings_.long_texts;
  EncodeOptions options{.max_length = long_texts == LongSources::error ? 0 : max_length_,
                        .truncation = settings_.truncation};
  if (long_texts == LongSources::truncate_left) options.truncation_side = TruncationSide::left;
  if (long_texts == LongSources::truncate_right) options.truncation_side = TruncationSide::right;
  return options;
}

Encoding TextRequest::encoded(std::size_t number, const std::function<Encoding()>& encode) {
  try {
    return encode();
  } catch (const InputError& error) {
    throw InputError(fmt::format("text {}: {}", number, error.what()));
  }
}

void TextRequest::check(const TokenIds& ids, std::size_t number) const {
  const std::size_t limit = max_length_;
  if (limit != 0 && ids.size() > limit) {
    throw InputError(fmt::format("text {}: {} tokens, expected at most {}", number, ids.size(), limit));
  }
  check_not_empty(ids, "text", number);  // an empty text has no ids if the tokenizer adds no special tokens
  check_tokens(ids, parts().network.config.encoder, "text", number);
  check_end(ids, parts().network.config.head, "text", number);
}

VectorRequest::VectorRequest(const Model& model, Settings settings, Handlers<VectorResult> handlers)
    : TextRequest(model, std::move(settings), std::move(handlers.on_failure), std::move(handlers.on_start)),
      handlers_(std::move(handlers)) {}

DecodeJob VectorRequest::job(std::size_t index, const std::function<Encoding()>& encode) const {
  poll_cancelled();
  Encoding encoding = encoded(index + 1, encode);
  check(encoding.ids, index + 1);
  DecodeJob job{.index = index};
  job.prompt.source_tokens = encoding.ids.size();
  job.prompt.second_segment = encoding.second_segment;
  job.prompt.source = std::move(encoding.ids);
  return job;
}

}  // namespace encdec

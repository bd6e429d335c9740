#include "encdec/models/generation/batch_decoder.h"

#include <algorithm>
#include <utility>

namespace encdec {
namespace {

// New sources are read when this part of the batch is free: reading them one by one would read the encoder's weights
// for each.
constexpr std::size_t kRefillShare = 8;
// That are encoded together: enough for matmuls at their best.
constexpr std::size_t kEncodedTokens = 512;

}  // namespace

BatchDecoder::BatchDecoder(Session& session, const SearchRules& rules, const BatchLimits& limits, Callbacks callbacks)
    : session_(session),
      rules_(rules),
      limits_(limits),
      callbacks_(std::move(callbacks)),
      rule_memory_(static_cast<std::size_t>(session.team().size())) {
  session_.reset();
  if (rules.needs_source_attention()) session_.set_source_attention(Session::SourceAttention::keep);
}

void BatchDecoder::run(SourceFeed& feed) {
  for (;;) {
    refill(feed);
    if (running_.empty() || feed.has_stopped()) return;
    step();
    if (callbacks_.on_step) callbacks_.on_step(*this);
  }
}

void BatchDecoder::refill(SourceFeed& feed) {
  const std::size_t most = std::max<std::size_t>(1, limits_.rows / limits_.rows_per_source);
  const std::size_t free = most - std::min(most, running_.size());
  if (free == 0 || free < most / kRefillShare) return;
  feed.take({.sources = free,
             .bytes = limits_.bytes - std::min(limits_.bytes, running_bytes_),
             .tokens = limits_.tokens_at_once,
             .is_idle = running_.empty()},
            jobs_);
  if (!jobs_.empty()) start(std::exchange(jobs_, {}));
}

void BatchDecoder::start(std::vector<DecodeJob> jobs) {
  // In pieces: what the encoder computes for one token takes far more memory than what is kept of it.
  for (std::size_t first = 0; first < jobs.size();) {
    std::size_t count = 0, tokens = 0;
    while (first + count < jobs.size() && (count == 0 || tokens < kEncodedTokens)) {
      tokens += jobs[first + count].prompt.source.size();
      ++count;
    }
    start_together(std::span(jobs).subspan(first, count));
    first += count;
  }
}

void BatchDecoder::start_together(std::span<DecodeJob> jobs) {
  const bool has_encoder = session_.model().config.has_encoder();
  std::span<const int> opened;
  if (has_encoder) {
    std::vector<TokenIds> sources;
    for (const DecodeJob& job : jobs) sources.push_back(job.prompt.source);
    opened = session_.encode(sources).sources;
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const int source = has_encoder ? opened[i] : Session::kNoSource;
    auto search = make_search(rules_, jobs[i].prompt, source, session_);
    running_bytes_ += jobs[i].bytes;
    source_tokens_ += has_encoder ? jobs[i].prompt.source.size() : jobs[i].prompt.target.size();
    if (callbacks_.on_tokens && jobs[i].prompt.prefix_length > 0) {
      callbacks_.on_tokens(jobs[i].index, std::span(jobs[i].prompt.target).last(jobs[i].prompt.prefix_length));
    }
    running_.push_back({.job = std::move(jobs[i]), .source = source, .search = std::move(search)});
  }
}

void BatchDecoder::step() {
  inputs_.clear();
  rows_.clear();
  for (const Running& running : running_) {
    const std::size_t first = inputs_.size();
    running.search->add_inputs(inputs_);
    for (std::size_t row = first; row < inputs_.size(); ++row) rows_.emplace_back(running.search.get(), row - first);
  }
  Tensor logits = session_.decode(inputs_);
  session_.team().run(static_cast<int>(rows_.size()), [&](int row, int thread) {
    const auto& [search, number] = rows_[static_cast<std::size_t>(row)];
    StepOutput output{.logits = {logits.row(row), static_cast<std::size_t>(logits.width())},
                      .source_attention = {},
                      .memory = rule_memory_[static_cast<std::size_t>(thread)]};
    if (rules_.needs_source_attention()) {
      output.source_attention = session_.source_attention(static_cast<std::size_t>(row));
    }
    search->read(number, output);
  });
  running_tokens_ = 0;
  std::erase_if(running_, [this](Running& running) {
    if (running.search->advance(session_) == Search::State::finished) {
      finish(running);
      return true;
    }
    if (callbacks_.on_tokens) tell_tokens(running, running.search->certain_tokens());
    running_tokens_ += running.search->length();
    return false;
  });
}

void BatchDecoder::tell_tokens(Running& running, std::span<const std::int32_t> certain) {
  if (certain.size() <= running.told) return;
  callbacks_.on_tokens(running.job.index, certain.subspan(running.told));
  running.told = certain.size();
}

void BatchDecoder::finish(Running& running) {
  if (running.source != Session::kNoSource) session_.close_source(running.source);
  running_bytes_ -= running.job.bytes;
  std::vector<GeneratedSequence> results = running.search->take_results();
  finished_tokens_ += results.front().tokens.size();
  if (callbacks_.on_tokens) tell_tokens(running, results.front().tokens);
  callbacks_.on_result(running.job, std::move(results));
}

}  // namespace encdec

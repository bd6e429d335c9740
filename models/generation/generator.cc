#include "encdec/models/generation/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/generation/batch_decoder.h"
#include "encdec/models/generation/generation_settings.h"
#include "encdec/models/generation/not_a_number.h"
#include "encdec/models/session/attention_reader.h"

namespace encdec {
namespace {

constexpr int kMaxWorkers = 1024;

void check_range(std::string_view name, int value, int min, int max) {
  if (value >= min && value <= max) return;
  throw ConfigError(fmt::format("{} is {}, expected {} to {}", name, value, min, max));
}

// What a call asks for, with all that it leaves to the checkpoint.
GenerateOptions settings_of(const ModelParts& parts, const GenerateOptions& options) {
  const TransformerConfig& config = parts.network.config;
  if (!config.has_decoder()) {
    throw ConfigError(
        fmt::format("{}: {} has no decoder and cannot generate, expected embed()", parts.origin, config.model_type));
  }
  check_settings(options, config.decoder.vocabulary);
  GenerateOptions settings = defaults_with_languages(parts, options.source_lang, options.target_lang) | options;
  const int beams = *settings.num_beams;
  const int most = beams > 1 ? beams : *settings.do_sample ? kMaxSequences : 1;
  if (!options.num_return_sequences) {
    settings.num_return_sequences = std::min(*settings.num_return_sequences, most);
  } else if (*settings.num_return_sequences > most) {
    throw ConfigError(fmt::format("num_return_sequences is {}, expected at most {}, since {}",
                                  *settings.num_return_sequences, most,
                                  beams > 1 ? "there are so many beams" : "greedy search has one result"));
  }
  check_range("batch_size", options.batch_size, 0, kMaxTokenCount);
  check_range("max_source_tokens", options.max_source_tokens, 0, kMaxTokenCount);
  check_range("workers", options.workers, 1, kMaxWorkers);
  check_range("top_log_probs", options.top_log_probs, 0, kMaxSequences);
  if (options.attention) check_selection(config, *options.attention);
  if (*settings.do_sample && !settings.force_words->empty()) {
    throw ConfigError("force_words with do_sample, expected greedy or beam search");
  }
  if (options.on_token && *settings.num_return_sequences > 1) {
    throw ConfigError(fmt::format("num_return_sequences is {}, expected 1 where tokens are told one by one",
                                  *settings.num_return_sequences));
  }
  return settings;
}

// The shortlist, and what must be producible anyway.
TokenIds producible_tokens(const GenerateOptions& settings) {
  TokenIds tokens = *settings.shortlist;
  const auto add = [&tokens](const TokenIds& more) { tokens.insert(tokens.end(), more.begin(), more.end()); };
  add(*settings.eos_tokens);
  add(*settings.forced_eos_tokens);
  for (const TokenIds& phrase : *settings.force_words) add(phrase);
  if (settings.forced_bos_token) tokens.push_back(*settings.forced_bos_token);
  return tokens;
}

// A call: its feed, its workers, and what they tell.
class Generator {
 public:
  Generator(const ModelParts& parts, const GenerateOptions& options, GenerateStream& stream)
      : parts_(parts),
        rules_(std::make_shared<const SearchRules>(settings_of(parts, options))),
        prompter_(parts, settings_),
        limits_(choose_batch_limits(parts.network, *rules_)),
        feed_({.stream = stream,
               .prepare = [this](const GenerateInput& input, std::size_t index) { return job_of(input, index); },
               .complete = [this](GenerateResult& result) { add_attention(result); }}),
        progress_(static_cast<std::size_t>(settings_.workers)) {
    if (!settings_.shortlist->empty()) shortlist_.emplace(parts.network, producible_tokens(settings_));
  }

  void run() {
    std::vector<std::thread> others;
    try {
      others.reserve(progress_.size());
      for (std::size_t worker = 1; worker < progress_.size(); ++worker) {
        others.push_back(
            start_thread(static_cast<int>(worker) + 1, settings_.workers, [this, worker] { work(worker); }));
      }
    } catch (...) {
      feed_.stop(std::current_exception());
    }
    work(0);
    for (std::thread& other : others) other.join();
    feed_.rethrow_failure();
  }

 private:
  void work(std::size_t worker) {
    try {
      const CancellationScope scope(check_);
      SessionPool::Lease session(parts_.sessions);
      if (shortlist_) session->set_shortlist(&*shortlist_);
      if (settings_.on_node_run) {
        session->set_run_observer([this](const NodeRun& run) {
          const std::lock_guard lock(telling_);
          settings_.on_node_run(run);
        });
      }
      BatchWork batches{.session = *session, .limits = limits_};
      batches.on_result = [this](const DecodeJob& job, std::vector<Hypothesis> results) {
        feed_.finish(job.index, to_result(job, std::move(results)));
      };
      if (settings_.on_token) {
        batches.on_tokens = [this](std::size_t source, std::span<const std::int32_t> tokens) {
          const std::lock_guard lock(telling_);
          for (const std::int32_t token : tokens) settings_.on_token(source, token);
        };
      }
      if (settings_.on_progress) {
        batches.on_step = [this, worker](const GenerateProgress& done) { report(worker, done); };
      }
      try {
        decode_batches(feed_, batches);
      } catch (const NotANumber& failure) {
        explain(failure, parts_);
      }
    } catch (...) {
      feed_.stop(std::current_exception());
    }
  }

  void report(std::size_t worker, const GenerateProgress& done) {
    const std::lock_guard lock(telling_);
    progress_[worker] = done;
    GenerateProgress total{.finished_sources = feed_.finished_sources()};
    for (const GenerateProgress& part : progress_) {
      total.source_tokens += part.source_tokens;
      total.generated_tokens += part.generated_tokens;
      total.encode_seconds += part.encode_seconds;
      total.decode_seconds += part.decode_seconds;
    }
    settings_.on_progress(total);
  }

  DecodeJob job_of(const GenerateInput& input, std::size_t index) const {
    DecodeJob job{.index = index, .prompt = prompter_.prompt(input, index + 1), .rules = rules_};
    if (!job.prompt.target.empty()) job.bytes = expected_bytes(parts_.network, *rules_, job.prompt);
    return job;
  }

  // The end token of as many tokens as there may be is the rules', where they force one.
  FinishReason reason_for(const DecodeJob& job, const TokenIds& generated) const {
    const bool has_all =
        generated.size() == rules_->new_token_limit(job.prompt.target.size(), parts_.network.config.decoder);
    const bool is_forced = has_all && !settings_.forced_eos_tokens->empty();
    const bool is_ended = !generated.empty() && rules_->is_end(generated.back());
    return is_ended && !is_forced ? FinishReason::stop : FinishReason::length;
  }

  // Results get their attention maps when it is their turn to be written: maps are large, and none of them waits for an
  // earlier result.
  void add_attention(GenerateResult& result) {
    if (!settings_.attention) return;
    SessionPool::Lease session(parts_.sessions);
    for (Hypothesis& hypothesis : result.hypotheses) {
      if (!hypothesis.token_ids.empty()) read_attention(*session, *settings_.attention, hypothesis.attention);
    }
  }

  // Completes what a search gives, which begins behind the prompt.
  GenerateResult to_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) const {
    const std::size_t prefix_length = job.prompt.prefix_length;
    const auto prefix = std::span(job.prompt.target).last(prefix_length);
    for (Hypothesis& hypothesis : hypotheses) {
      TokenIds& tokens = hypothesis.token_ids;
      if (settings_.attention) hypothesis.attention = attention_tokens(job.prompt.source, job.prompt.target, tokens);
      hypothesis.finish_reason = reason_for(job, tokens);
      tokens.insert(tokens.begin(), prefix.begin(), prefix.end());
      hypothesis.token_scores.insert(hypothesis.token_scores.begin(), prefix_length, 0.0f);
      if (settings_.top_log_probs > 0) {
        hypothesis.top_log_probs.insert(hypothesis.top_log_probs.begin(), prefix_length, {});
      }
      if (parts_.tokenizer != nullptr) hypothesis.text = decode_known(*parts_.tokenizer, tokens);
    }
    return {.hypotheses = std::move(hypotheses),
            .source_tokens = job.prompt.source_tokens,
            .source_truncated = job.prompt.source_truncated};
  }

  const std::function<void()>* check_ = CancellationScope::check_of_this_thread();  // also of the workers
  ModelParts parts_;
  std::shared_ptr<const SearchRules> rules_;
  const GenerateOptions& settings_ = rules_->settings;
  Prompter prompter_;
  BatchLimits limits_;
  std::optional<VocabularyShortlist> shortlist_;
  SourceFeed feed_;
  std::mutex telling_;
  std::vector<GenerateProgress> progress_;  // by worker
};

}  // namespace

void generate(const ModelParts& parts, const GenerateOptions& options, GenerateStream& stream) {
  Generator(parts, options, stream).run();
}

}  // namespace encdec

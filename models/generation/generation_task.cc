#include "encdec/models/generation/generation_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/generation/generation_settings.h"
#include "encdec/models/session/attention_reader.h"

namespace encdec {
namespace {

// Returns the call's options, completed with the checkpoint's settings. Throws ConfigError for
// options that are out of range, unsupported by the model, or in conflict with each other.
GenerateOptions settings_of(const ModelParts& parts, const GenerateOptions& options) {
  const TransformerConfig& config = parts.network.config;
  if (!config.has_decoder()) {
    throw ConfigError(fmt::format("{}: {} {} and cannot generate, expected a model that does", parts.origin,
                                  config.model_type, config.why_not_generative()));
  }
  check_settings(options, config.decoder.vocabulary);
  GenerateOptions settings = defaults_with_languages(parts, options.source_lang, options.target_lang) | options;
  // Limit the number of hypotheses. Reduce a number from the checkpoint silently, but refuse a number from the call.
  const int beams = *settings.num_beams;
  const int most = beams > 1 ? beams : *settings.do_sample ? kMaxSequences : 1;
  if (!options.num_return_sequences) {
    settings.num_return_sequences = std::min(*settings.num_return_sequences, most);
  } else if (*settings.num_return_sequences > most) {
    throw ConfigError(fmt::format("num_return_sequences is {}, expected at most {}, since {}",
                                  *settings.num_return_sequences, most,
                                  beams > 1 ? "it cannot exceed num_beams" : "greedy search has one result"));
  }
  check_ranges(generation_call_options(), options);
  check_batching(options.batch_size, options.workers);
  if (options.attention) check_selection(config, *options.attention);
  // As in transformers, only beam search without sampling can force phrases.
  if (!settings.force_words->empty() && (beams == 1 || *settings.do_sample)) {
    throw ConfigError(fmt::format("force_words with {}, expected beam search: num_beams of at least 2 and no do_sample",
                                  beams == 1 ? "num_beams 1" : "do_sample"));
  }
  if (options.on_token && *settings.num_return_sequences > 1) {
    throw ConfigError(fmt::format("num_return_sequences is {}, expected 1 when tokens are returned one by one",
                                  *settings.num_return_sequences));
  }
  return settings;
}

// Returns the rules of a call's searches. A shortlist in the call replaces the lexical shortlist.
std::shared_ptr<const SearchRules> rules_of(const ModelParts& parts, const GenerateOptions& options) {
  auto rules = std::make_shared<SearchRules>(settings_of(parts, options));
  const GenerateOptions& settings = rules->settings;
  if (!settings.shortlist->empty()) {
    TokenIds tokens = required_tokens(settings);
    tokens.insert(tokens.end(), settings.shortlist->begin(), settings.shortlist->end());
    rules->shortlist = std::make_shared<const VocabularyShortlist>(parts.network, std::move(tokens));
  } else if (*settings.lexical_shortlist) {
    rules->lexical_shortlist = parts.lexical_shortlist;
  }
  return rules;
}

}  // namespace

GenerationTask::GenerationTask(const ModelParts& parts, const GenerateOptions& options)
    : parts_(parts), rules_(rules_of(parts, options)), prompter_(parts, rules_->settings) {}

DecodeJob GenerationTask::job(const GenerateInput& input, std::size_t index) const {
  DecodeJob job{.index = index, .prompt = prompter_.prompt(input, index + 1), .rules = rules_};
  if (!job.prompt.target.empty()) job.bytes = expected_bytes(parts_.network, *rules_, job.prompt);
  return job;
}

// If an end token was forced at the maximum length, returns `length`, because the model did not choose the token.
FinishReason GenerationTask::reason_for(const DecodeJob& job, const TokenIds& generated) const {
  const bool has_all = generated.size() == rules_->new_token_limit(job.prompt, parts_.network.config.decoder);
  const bool is_forced = has_all && !settings().forced_eos_tokens->empty();
  const bool is_ended = !generated.empty() && rules_->is_end(generated.back());
  return is_ended && !is_forced ? FinishReason::stop : FinishReason::length;
}

void GenerationTask::add_attention(GenerateResult& result) const {
  if (!settings().attention) return;
  SessionPool::Lease session(parts_.sessions);
  for (Hypothesis& hypothesis : result.hypotheses) {
    if (!hypothesis.token_ids.empty()) read_attention(*session, *settings().attention, hypothesis.attention);
  }
}

GenerateResult GenerationTask::result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) const {
  const std::size_t prefix_length = job.prompt.prefix_length;
  const auto prefix = std::span(job.prompt.target).last(prefix_length);
  for (Hypothesis& hypothesis : hypotheses) {
    // Compute attention tokens and finish reason from the generated tokens alone. Then insert the prefix.
    TokenIds& tokens = hypothesis.token_ids;
    if (settings().attention) hypothesis.attention = attention_tokens(job.prompt.source, job.prompt.target, tokens);
    hypothesis.finish_reason = reason_for(job, tokens);
    tokens.insert(tokens.begin(), prefix.begin(), prefix.end());
    hypothesis.token_scores.insert(hypothesis.token_scores.begin(), prefix_length, 0.0f);
    if (settings().top_log_probs > 0) {
      hypothesis.top_log_probs.insert(hypothesis.top_log_probs.begin(), prefix_length, {});
    }
    if (parts_.tokenizer != nullptr) hypothesis.text = decode_known(*parts_.tokenizer, tokens);
  }
  return {.hypotheses = std::move(hypotheses),
          .source_tokens = job.prompt.source_tokens,
          .source_truncated = job.prompt.source_truncated};
}

}  // namespace encdec

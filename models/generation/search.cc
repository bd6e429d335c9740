#include "encdec/models/generation/search.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/logits.h"
#include "encdec/models/generation/generation_settings.h"

namespace encdec {

SearchRules::SearchRules(GenerateOptions settings_)
    : settings(std::move(settings_)), processors(make_logits_processors(settings)) {
  if (!*settings.do_sample) return;
  LogitsProcessors sampling = make_sampling_processors(settings);
  always_changes_scores = !sampling.empty();
  std::ranges::move(sampling, std::back_inserter(processors));
}

std::size_t SearchRules::new_token_limit(const Prompt& prompt, const StackConfig& decoder) const {
  const std::size_t prompt_length = prompt.target.size();
  int limit = encdec::new_token_limit(settings, prompt_length);
  if (const float factor = *settings.max_length_factor; factor > 0 && !prompt.source.empty()) {
    constexpr int kMore = 4;  // tokens added for short sources, as in fxtranslate
    limit = std::min(limit, static_cast<int>(std::min(factor * static_cast<float>(prompt.source.size()),
                                                      static_cast<float>(limit))) +
                                kMore);
  }
  if (const auto positions = decoder.position_limit()) {
    // The decoder never reads the last token, so it needs no position.
    limit = std::min(limit, std::max(1, static_cast<int>(*positions) - static_cast<int>(prompt_length) + 1));
  }
  return static_cast<std::size_t>(limit);
}

std::shared_ptr<const VocabularyShortlist> SearchRules::shortlist_for(const TokenIds& source,
                                                                      const Transformer& model) const {
  if (shortlist != nullptr || lexical_shortlist == nullptr || source.empty()) return shortlist;
  TokenIds tokens = lexical_shortlist->tokens_for(source);
  const TokenIds required = required_tokens(settings);
  tokens.insert(tokens.end(), required.begin(), required.end());
  return std::make_shared<const VocabularyShortlist>(model, std::move(tokens));
}

std::size_t SearchRules::rows_per_source() const {
  return static_cast<std::size_t>(
      std::max(*settings.num_beams, *settings.do_sample ? *settings.num_return_sequences : 1));
}

TokenIds required_tokens(const GenerateOptions& settings) {
  TokenIds tokens = *settings.eos_tokens;
  const auto add = [&tokens](const TokenIds& more) { tokens.insert(tokens.end(), more.begin(), more.end()); };
  add(*settings.forced_eos_tokens);
  for (const TokenIds& phrase : *settings.force_words) add(phrase);
  if (settings.forced_bos_token) tokens.push_back(*settings.forced_bos_token);
  return tokens;
}

bool SearchRules::is_end(std::int32_t token) const {
  return std::ranges::find(*settings.eos_tokens, token) != settings.eos_tokens->end();
}

float log_normalizer_of(std::span<const float> logits) {
  const float normalizer = kernels::log_sum_exp(logits);
  if (std::isnan(normalizer)) throw BackendError("the model computed NaN");
  return normalizer;
}

void StepScores::read(const SearchRules& rules, const TokenHistory& history, const StepOutput& output, Scale scale) {
  // Store the normalizer, the first logit and the best tokens before the processors overwrite the logits.
  const std::span<float> logits = output.logits;
  ranking_ = logits;
  normalizer_ = offset_ = log_normalizer_of(logits);
  first_logit_ = logits.front();
  raw_.clear();
  top_.clear();
  if (rules.settings.top_log_probs > 0) {
    kernels::top_k(logits, rules.settings.top_log_probs, indices_);
    for (const std::int32_t token : indices_) {
      top_.push_back({token, logits[static_cast<std::size_t>(token)] - normalizer_});
    }
  }
  // Copy the logits and change their scale only if a processor does more than ban tokens.
  const bool changes = rules.always_changes_scores || std::ranges::any_of(rules.processors, [&](const auto& processor) {
                         return processor.changes_scores(history);
                       });
  if (changes) {
    raw_.assign(logits.begin(), logits.end());
    if (scale == Scale::log_probabilities) {
      for (float& logit : logits) logit -= normalizer_;
      offset_ = 0.0f;
    }
  }
  for (const auto& processor : rules.processors) processor.process(history, logits, output.scratch);
}

float StepScores::log_probability(std::int32_t token) const {
  const auto index = static_cast<std::size_t>(token);
  if (!raw_.empty()) return raw_[index] - normalizer_;
  return (index == 0 ? first_logit_ : ranking_[index]) - normalizer_;
}

Search::Search(const SearchRules& rules, const Prompt& prompt, const Session& session)
    : rules_(rules),
      source_(prompt.source),
      prompt_length_(prompt.target.size()),
      limit_(rules.new_token_limit(prompt, session.model().config.decoder)),
      random_(RandomKey(*rules.settings.seed).with(prompt.source).with(prompt.target)) {}

void Search::draft_with(Session& session, int source, DraftLength& length) {
  for (Drafter& drafter : drafters_) drafter.use_model(session, source, length);
}

void Search::add_draft_inputs(std::vector<Session::TargetTokens>& inputs) {
  drafting_.clear();
  for (std::size_t i = 0; i < drafters_.size(); ++i) {
    if (!drafters_[i].wants_model()) continue;
    inputs.push_back(drafters_[i].input());
    drafting_.push_back(i);
  }
}

DraftCounts Search::draft_counts() const {
  DraftCounts sum;
  for (const Drafter& drafter : drafters_) sum += drafter.counts();
  return sum;
}

std::unique_ptr<Search> make_search(const SearchRules& rules, const Prompt& prompt, int source, Session& session) {
  return (*rules.settings.num_beams > 1 ? make_beam_search : make_sequence_search)(rules, prompt, source, session);
}

}  // namespace encdec

#include "encdec/models/generation/generator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <thread>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/generation/batch_decoder.h"

namespace encdec {
namespace {

constexpr int kMaxWorkers = 1024;

template <class T, class Number>
void check_range(std::string_view name, T value, Number min, Number max) {
  // The negation refuses what is not a number too.
  if (value >= static_cast<T>(min) && value <= static_cast<T>(max)) return;
  throw ConfigError(fmt::format("{} is {}, expected {} to {}", name, value, min, max));
}

// Sets what is given, if it lies between `min` and `max`.
template <class Setting, class T, class Number>
void set(Setting& setting, std::string_view name, const std::optional<T>& given, Number min, Number max) {
  if (!given) return;
  check_range(name, *given, min, max);
  setting = *given;
}

void set_search(const GenerateOptions& options, GenerationConfig& config) {
  set(config.num_beams, "num_beams", options.num_beams, 1, kMaxSequences);
  set(config.num_return_sequences, "num_return_sequences", options.num_return_sequences, 1, kMaxSequences);
  set(config.length_penalty, "length_penalty", options.length_penalty, -kMaxScoreExponent, kMaxScoreExponent);
  if (options.early_stopping) config.early_stopping = *options.early_stopping;
  set(config.coverage_penalty, "coverage_penalty", options.coverage_penalty, -kMaxScoreExponent, kMaxScoreExponent);
  if (options.do_sample) config.do_sample = *options.do_sample;
  set(config.temperature, "temperature", options.temperature, kMinFactor, kMaxFactor);
  set(config.top_k, "top_k", options.top_k, 0, std::numeric_limits<int>::max());
  set(config.top_p, "top_p", options.top_p, kMinFactor, 1.0);
  config.seed = options.seed;
  const int most = config.num_beams > 1 ? config.num_beams : config.do_sample ? kMaxSequences : 1;
  if (!options.num_return_sequences) {
    config.num_return_sequences = std::min(config.num_return_sequences, most);
  } else if (config.num_return_sequences > most) {
    throw ConfigError(fmt::format("num_return_sequences is {}, expected at most {}, since {}",
                                  config.num_return_sequences, most,
                                  config.num_beams > 1 ? "there are so many beams" : "greedy search has one result"));
  }
}

// Rules about tokens, which must all be in the vocabulary.
class TokenRules {
 public:
  TokenRules(Dim vocabulary, GenerationConfig& config) : vocabulary_(vocabulary), config_(config) {}

  void set_all(const GenerateOptions& options) const {
    if (options.bad_words) config_.bad_words = checked("bad_words", *options.bad_words);
    if (options.suppress_tokens) config_.suppress_tokens = checked("suppress_tokens", *options.suppress_tokens);
    if (options.begin_suppress_tokens) {
      config_.begin_suppress_tokens = checked("begin_suppress_tokens", *options.begin_suppress_tokens);
    }
    if (options.forced_bos_token) config_.forced_bos_token = checked("forced_bos_token", *options.forced_bos_token);
    if (options.forced_eos_tokens) config_.forced_eos_tokens = checked("forced_eos_tokens", *options.forced_eos_tokens);
    config_.force_words = checked("force_words", options.force_words);
    config_.shortlist = checked("shortlist", options.shortlist);
  }

 private:
  std::int32_t checked(std::string_view name, std::int32_t token) const {
    if (token >= 0 && token < vocabulary_) return token;
    throw ConfigError(fmt::format("{}: token id {}, expected 0 to {}", name, token, vocabulary_ - 1));
  }
  TokenIds checked(std::string_view name, const TokenIds& tokens) const {
    for (const std::int32_t token : tokens) checked(name, token);
    return tokens;
  }
  std::vector<TokenIds> checked(std::string_view name, const std::vector<TokenIds>& phrases) const {
    for (const TokenIds& phrase : phrases) {
      if (phrase.empty()) throw ConfigError(fmt::format("{}: a phrase without tokens, expected at least one", name));
      checked(name, phrase);
    }
    return phrases;
  }

  Dim vocabulary_;
  GenerationConfig& config_;
};

void set_rules(const GenerateOptions& options, GenerationConfig& config) {
  set(config.repetition_penalty, "repetition_penalty", options.repetition_penalty, kMinFactor, kMaxFactor);
  set(config.encoder_repetition_penalty, "encoder_repetition_penalty", options.encoder_repetition_penalty, kMinFactor,
      kMaxFactor);
  set(config.no_repeat_ngram_size, "no_repeat_ngram_size", options.no_repeat_ngram_size, 0, kMaxTokenCount);
  set(config.encoder_no_repeat_ngram_size, "encoder_no_repeat_ngram_size", options.encoder_no_repeat_ngram_size, 0,
      kMaxTokenCount);
  if (const auto& decay = options.exponential_decay_length_penalty) {
    if (decay->start < 0 || !(decay->factor > 0 && decay->factor <= kMaxFactor)) {
      throw ConfigError(
          fmt::format("exponential_decay_length_penalty is {}, {}, expected a start of at least 0 and a "
                      "factor above 0",
                      decay->start, decay->factor));
    }
    config.exponential_decay_length_penalty = decay;
  }
}

}  // namespace

void set_languages(const Generator::Parts& parts, const std::string& source_lang, const std::string& target_lang,
                   GenerationConfig& config) {
  if (source_lang.empty() && target_lang.empty()) return;
  const Tokenizer* tokenizer = parts.tokenizer;
  if (tokenizer == nullptr || tokenizer->languages().empty()) {
    throw ConfigError(fmt::format(
        "{}: the model knows no languages by name, expected neither source_lang nor target_lang", parts.origin));
  }
  for (const std::string& language : {source_lang, target_lang}) {
    if (language.empty() || tokenizer->language_token(language)) continue;
    throw ConfigError(fmt::format("{}: language '{}' is not known, expected one of {}", parts.origin,
                                  printable(language), fmt::join(tokenizer->languages(), ", ")));
  }
  if (target_lang.empty()) return;
  const auto token = tokenizer->language_token(target_lang);
  switch (parts.network.config.target_language) {
    case TargetLanguage::none: break;
    case TargetLanguage::first_token: config.forced_bos_token = token; break;
    case TargetLanguage::start_token: config.decoder_start_token = token; break;
  }
}

const Tokenizer& tokenizer_of(const Generator::Parts& parts) {
  if (parts.tokenizer != nullptr) return *parts.tokenizer;
  throw TokenizerError(fmt::format("{}: no tokenizer files, expected token ids as input", parts.origin));
}

std::int32_t decoder_start_token(const Generator::Parts& parts, const GenerationConfig& config) {
  if (config.decoder_start_token) return *config.decoder_start_token;
  const bool starts_with_language = parts.network.config.target_language == TargetLanguage::start_token;
  throw ConfigError(fmt::format(
      "{}: no decoder_start_token_id, expected {}", parts.origin,
      starts_with_language ? "a target language to begin with" : "one in generation_config.json or config.json"));
}

void check_tokens(std::span<const std::int32_t> tokens, const StackConfig& stack, std::string_view what,
                  std::size_t number) {
  const auto positions = stack.position_limit();
  if (positions && tokens.size() > static_cast<std::size_t>(*positions)) {
    throw InputError(fmt::format("{} {}: {} tokens, expected at most {}: the model has no more positions", what, number,
                                 tokens.size(), *positions));
  }
  for (const std::int32_t id : tokens) {
    if (id < 0 || id >= stack.input_tokens()) {
      throw InputError(fmt::format("{} {}: token id {}, expected 0 to {}", what, number, id, stack.input_tokens() - 1));
    }
  }
}

namespace {

GenerationConfig with_options(const Generator::Parts& parts, const GenerateOptions& options) {
  if (!parts.network.config.has_decoder()) {
    throw ConfigError(fmt::format("{}: {} has no decoder and cannot generate, expected embed()", parts.origin,
                                  parts.network.config.model_type));
  }
  GenerationConfig config = parts.defaults;
  set_search(options, config);
  set(config.max_new_tokens, "max_new_tokens", options.max_new_tokens, 1, kMaxTokenCount);
  set(config.min_new_tokens, "min_new_tokens", options.min_new_tokens, 0, kMaxTokenCount);
  set_rules(options, config);
  set_languages(parts, options.source_lang, options.target_lang, config);
  TokenRules(parts.network.config.decoder.vocabulary, config).set_all(options);
  if (parts.network.config.has_encoder()) decoder_start_token(parts, config);
  check_range("batch_size", options.batch_size, 0, kMaxTokenCount);
  check_range("workers", options.workers, 1, kMaxWorkers);
  check_range("top_log_probs", options.top_log_probs, 0, kMaxSequences);
  if (options.attention) check_selection(parts.network.config, *options.attention);
  if (config.do_sample && !config.force_words.empty()) {
    throw ConfigError("force_words with do_sample, expected greedy or beam search");
  }
  if (options.on_token && config.num_return_sequences > 1) {
    throw ConfigError(fmt::format("num_return_sequences is {}, expected 1 where tokens are told one by one",
                                  config.num_return_sequences));
  }
  return config;
}

// Turns inputs into prompts.
class Prompter {
 public:
  Prompter(const Generator::Parts& parts, const GenerateOptions& options, const SearchRules& rules)
      : parts_(parts), rules_(rules) {
    languages_ = {.source_language = options.source_lang, .target_language = options.target_lang};
    const TransformerConfig& config = parts.network.config;
    if (!config.has_encoder()) return;
    start_ = {decoder_start_token(parts, rules.config)};
    // A prefix stands after the language that was asked for.
    asks_for_first_token_ = !options.target_lang.empty() && config.target_language == TargetLanguage::first_token;
  }

  DecodeJob operator()(const GenerateInput& input) {
    const TransformerConfig& config = parts_.network.config;
    ++count_;
    DecodeJob job;
    const TokenIds source = ids_of(input.source);
    check_tokens(source, config.input_stack(), "source", count_);
    if (source.empty()) return job;
    TokenIds& target = job.prompt.target;
    if (config.has_encoder()) {
      job.prompt.source = source;
      target = start_;
    } else {
      target = source;
    }
    const TokenIds prefix = prefix_of(input);
    if (!prefix.empty() && asks_for_first_token_ && prefix.front() != *rules_.config.forced_bos_token) {
      target.push_back(*rules_.config.forced_bos_token);
    }
    target.insert(target.end(), prefix.begin(), prefix.end());
    job.prefix_length = target.size() - (config.has_encoder() ? start_.size() : source.size());
    check_tokens(target, config.decoder, "prefix of source", count_);
    job.bytes = expected_bytes(parts_.network, rules_, job.prompt);
    return job;
  }

 private:
  TokenIds ids_of(const std::variant<std::string, TokenIds>& source) const {
    if (const auto* ids = std::get_if<TokenIds>(&source)) return *ids;
    // An empty line has nothing to translate, though the tokenizer would still add its end token.
    const std::string& text = std::get<std::string>(source);
    return text.empty() ? TokenIds() : tokenizer_of(parts_).encode(text, languages_);
  }
  TokenIds prefix_of(const GenerateInput& input) const {
    if (const auto* ids = std::get_if<TokenIds>(&input.prefix)) return *ids;
    const auto* text = std::get_if<std::string>(&input.prefix);
    return text == nullptr || text->empty() ? TokenIds() : encode_target_part(tokenizer_of(parts_), *text, languages_);
  }

  Generator::Parts parts_;
  const SearchRules& rules_;
  EncodeOptions languages_;
  TokenIds start_;
  bool asks_for_first_token_ = false;
  std::size_t count_ = 0;
};

// The shortlist, and what must be producible anyway.
TokenIds producible_tokens(const GenerationConfig& config) {
  TokenIds tokens = config.shortlist;
  const auto add = [&tokens](const TokenIds& more) { tokens.insert(tokens.end(), more.begin(), more.end()); };
  add(config.eos_tokens);
  add(config.forced_eos_tokens);
  for (const TokenIds& phrase : config.force_words) add(phrase);
  if (config.forced_bos_token) tokens.push_back(*config.forced_bos_token);
  return tokens;
}

// A stream whose results get their attention maps when it is their turn to be written: maps are large, and none of them
// waits for an earlier result.
class AttentiveStream final : public GenerateStream {
 public:
  // Without a selection nothing is added.
  AttentiveStream(GenerateStream& stream, SessionPool& sessions, const std::optional<AttentionSelection>& selection)
      : stream_(stream), sessions_(sessions), selection_(selection) {}

  std::optional<GenerateInput> next(Wait wait) override { return stream_.next(wait); }
  void write(GenerateResult result) override {
    if (selection_) {
      SessionPool::Lease session(sessions_);
      for (Hypothesis& hypothesis : result.hypotheses) {
        if (!hypothesis.token_ids.empty()) read_attention(*session, *selection_, hypothesis.attention);
      }
    }
    stream_.write(std::move(result));
  }

 private:
  GenerateStream& stream_;
  SessionPool& sessions_;
  const std::optional<AttentionSelection>& selection_;
};

// A call: its feed, its workers, and what they tell.
class Call {
 public:
  Call(const Generator::Parts& parts, const GenerateOptions& options, const GenerationConfig& config,
       GenerateStream& stream)
      : parts_(parts),
        options_(options),
        rules_(config, options.top_log_probs),
        limits_(choose_batch_limits(parts.network, config, options.batch_size, options.workers)),
        stream_(stream, parts.sessions, options.attention),
        feed_(stream_, Prompter(parts, options, rules_)),
        progress_(static_cast<std::size_t>(options.workers)) {
    if (!config.shortlist.empty()) shortlist_.emplace(parts.network, producible_tokens(config));
  }

  void run() {
    std::vector<std::thread> others;
    try {
      for (std::size_t worker = 1; worker < progress_.size(); ++worker) {
        others.emplace_back([this, worker] { work(worker); });
      }
    } catch (...) {  // the system has no more threads
      feed_.stop(std::current_exception());
    }
    work(0);
    for (std::thread& other : others) other.join();
    feed_.rethrow_failure();
  }

 private:
  void work(std::size_t worker) {
    try {
      SessionPool::Lease session(parts_.sessions);
      if (shortlist_) session->set_shortlist(&*shortlist_);
      if (options_.on_node_run) {
        session->set_run_observer([this](const NodeRun& run) {
          const std::lock_guard lock(telling_);
          options_.on_node_run(run);
        });
      }
      BatchDecoder::Callbacks callbacks;
      callbacks.on_result = [this](const DecodeJob& job, std::vector<GeneratedSequence> results) {
        feed_.finish(job.index, to_result(job, std::move(results)));
      };
      if (options_.on_token) {
        callbacks.on_tokens = [this](std::size_t source, std::span<const std::int32_t> tokens) {
          const std::lock_guard lock(telling_);
          for (const std::int32_t token : tokens) options_.on_token(source, token);
        };
      }
      if (options_.on_progress) {
        callbacks.on_step = [&](const BatchDecoder& decoder) { report(worker, decoder, *session); };
      }
      BatchDecoder(*session, rules_, limits_, std::move(callbacks)).run(feed_);
    } catch (...) {
      feed_.stop(std::current_exception());
    }
  }

  void report(std::size_t worker, const BatchDecoder& decoder, const Session& session) {
    const std::lock_guard lock(telling_);
    progress_[worker] = {.source_tokens = decoder.source_tokens(),
                         .generated_tokens = decoder.generated_tokens(),
                         .encode_seconds = session.encode_seconds(),
                         .decode_seconds = session.decode_seconds()};
    GenerateProgress total{.finished_sources = feed_.finished_sources()};
    for (const GenerateProgress& part : progress_) {
      total.source_tokens += part.source_tokens;
      total.generated_tokens += part.generated_tokens;
      total.encode_seconds += part.encode_seconds;
      total.decode_seconds += part.decode_seconds;
    }
    options_.on_progress(total);
  }

  GenerateResult to_result(const DecodeJob& job, std::vector<GeneratedSequence> sequences) const {
    GenerateResult result;
    const TokenIds& prompt = job.prompt.target;
    const auto prefix_begin = prompt.end() - static_cast<std::ptrdiff_t>(job.prefix_length);
    for (GeneratedSequence& sequence : sequences) {
      Hypothesis hypothesis;
      hypothesis.token_ids.assign(prefix_begin, prompt.end());
      hypothesis.token_ids.insert(hypothesis.token_ids.end(), sequence.tokens.begin(), sequence.tokens.end());
      hypothesis.token_scores.assign(job.prefix_length, 0.0f);
      hypothesis.token_scores.insert(hypothesis.token_scores.end(), sequence.token_scores.begin(),
                                     sequence.token_scores.end());
      hypothesis.score = sequence.score;
      if (options_.top_log_probs > 0) {
        hypothesis.top_log_probs.resize(job.prefix_length);
        std::ranges::move(sequence.top_log_probs, std::back_inserter(hypothesis.top_log_probs));
      }
      if (parts_.tokenizer != nullptr) hypothesis.text = decode_known(*parts_.tokenizer, hypothesis.token_ids);
      if (options_.attention) {
        hypothesis.attention = attention_tokens(job.prompt.source, job.prompt.target, sequence.tokens);
      }
      result.hypotheses.push_back(std::move(hypothesis));
    }
    return result;
  }

  Generator::Parts parts_;
  const GenerateOptions& options_;
  SearchRules rules_;
  BatchLimits limits_;
  std::optional<VocabularyShortlist> shortlist_;
  AttentiveStream stream_;
  SourceFeed feed_;
  std::mutex telling_;
  std::vector<GenerateProgress> progress_;  // by worker
};

}  // namespace

Generator::Generator(const Parts& parts, const GenerateOptions& options)
    : parts_(parts), options_(options), config_(with_options(parts, options)) {}

void Generator::run(GenerateStream& stream) const {
  Call(parts_, options_, config_, stream).run();
}

}  // namespace encdec

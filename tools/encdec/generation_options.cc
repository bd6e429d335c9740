#include "generation_options.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "options.h"

namespace encdec::cli {
namespace {

// Declares options of one group.
class Group {
 public:
  Group(CLI::App& command, std::string name) : command_(command), name_(std::move(name)) {}

  template <class Value>
  void add(const char* option, Value& value, const CLI::Validator& check, const std::string& description,
           const char* type = "N") {
    command_.add_option(option, value, description)->check(check)->type_name(type)->group(name_);
  }
  void add_text(const char* option, std::string& value, const char* type, const std::string& description) {
    command_.add_option(option, value, description)->type_name(type)->group(name_);
  }
  // `set` gets what was typed.
  template <class Set>
  CLI::Option* add_with(const char* option, Set set, const std::string& description) {
    return command_.add_option_function<std::string>(option, std::move(set), description)->group(name_);
  }

 private:
  CLI::App& command_;
  std::string name_;
};

std::optional<ExponentialDecay> parse_decay(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return std::nullopt;
  const std::string start = text.substr(0, comma), factor = text.substr(comma + 1);
  if (!integer_from(0, kMaxTokens)(start).empty() || !number_from(kMinFactor, kMaxFactor)(factor).empty()) {
    return std::nullopt;
  }
  return ExponentialDecay{std::stoi(start), std::stof(factor)};
}

CLI::Validator decay() {
  return expecting(fmt::format("START,FACTOR: an integer from 0 to {} and a number above 0", kMaxTokens),
                   [](const std::string& text) { return parse_decay(text).has_value(); });
}

EarlyStopping parse_early_stopping(const std::string& text) {
  if (text == "true") return EarlyStopping::when_full;
  return text == "never" ? EarlyStopping::never : EarlyStopping::heuristic;
}

void add_search_options(CLI::App& command, GenerateOptions& options) {
  Group group(command, "Search");
  group.add("--num-beams", options.num_beams, integer_from(1, kMaxBeams), "Beams of the search; 1 is greedy");
  group.add("--num-return-sequences", options.num_return_sequences, integer_from(1, kMaxBeams),
            "Hypotheses to write for one source, best first; needs --json if more than one");
  group.add("--length-penalty", options.length_penalty, number_from(-kMaxScoreExponent, kMaxScoreExponent),
            "Of beams: scores are divided by length to this power; above 0 makes longer texts", "X");
  CLI::Option* early_stopping = group.add_with(
      "--early-stopping", [&](const std::string& text) { options.early_stopping = parse_early_stopping(text); },
      "Beam search ends when enough beams have (true), when a better one is not likely (false) or not possible "
      "(never)");
  take_words(early_stopping, {"true", "false", "never"});
  group.add("--coverage-penalty", options.coverage_penalty, number_from(-kMaxScoreExponent, kMaxScoreExponent),
            "Of beams: for sources that attention has passed over", "X");
}

void add_length_options(CLI::App& command, GenerateOptions& options) {
  Group group(command, "Length");
  group.add("--max-new-tokens", options.max_new_tokens, integer_from(1, kMaxTokens),
            "Most tokens to generate for one source");
  group.add("--min-new-tokens", options.min_new_tokens, integer_from(0, kMaxTokens),
            "Fewest tokens to generate for one source");
  group
      .add_with(
          "--exponential-decay-length-penalty",
          [&](const std::string& text) { options.exponential_decay_length_penalty = parse_decay(text); },
          "After START tokens the end becomes likelier by FACTOR with each")
      ->check(decay())
      ->type_name("START,FACTOR");
}

void add_sampling_options(CLI::App& command, GenerateOptions& options) {
  Group group(command, "Sampling");
  CLI::Option* do_sample = group.add_with(
      "--do-sample", [&](const std::string& text) { options.do_sample = text != "false"; },
      "Draw tokens by their probability; alone it means true");
  take_words(do_sample->expected(0, 1), {"true", "false"});
  group.add("--temperature", options.temperature, number_from(kMinFactor, kMaxFactor),
            "Below 1 makes likely tokens likelier, above 1 less so", "X");
  group.add("--top-k", options.top_k, integer_from(0, kMaxTokens), "Draw from the K likeliest tokens; 0 for all", "K");
  group.add("--top-p", options.top_p, number_from(kMinFactor, 1),
            "Draw from the likeliest tokens that have this probability together", "P");
  group.add("--seed", options.seed, integer_from(0, std::numeric_limits<std::int64_t>::max()),
            "Equal seeds draw equal texts, whatever stands beside them");
}

void add_repetition_options(CLI::App& command, GenerateOptions& options) {
  Group group(command, "Repetition");
  group.add("--repetition-penalty", options.repetition_penalty, number_from(kMinFactor, kMaxFactor),
            "Above 1 makes tokens less likely that were generated before", "X");
  group.add("--no-repeat-ngram-size", options.no_repeat_ngram_size, integer_from(0, kMaxTokens),
            "Nothing of so many tokens is generated twice; 0 for no such rule");
  group.add("--encoder-repetition-penalty", options.encoder_repetition_penalty, number_from(kMinFactor, kMaxFactor),
            "Above 1 makes tokens of the source likelier", "X");
  group.add("--encoder-no-repeat-ngram-size", options.encoder_no_repeat_ngram_size, integer_from(0, kMaxTokens),
            "Nothing of so many tokens is taken from the source; 0 for no such rule");
}

void add_token_options(CLI::App& command, GenerationArguments& arguments) {
  Group group(command, "Tokens");
  group.add_text("--forced-bos-token", arguments.forced_bos_token, "TOKEN",
                 "First token to generate: as the vocabulary spells it, or its id");
  group.add_text("--forced-eos-token", arguments.forced_eos_token, "TOKEN",
                 "Last token, where the length limit is reached");
  group.add("--suppress-tokens", arguments.suppress_tokens, token_id_list(), "Ids never to generate, between spaces",
            "IDS");
  group.add("--begin-suppress-tokens", arguments.begin_suppress_tokens, token_id_list(),
            "Ids not to generate as the first", "IDS");
  group.add_text("--bad-words-file", arguments.bad_words_file, "FILE",
                 "Phrases never to generate, one a line: texts, or ids with --token-ids");
  group.add_text("--force-words-file", arguments.force_words_file, "FILE",
                 "Phrases that every hypothesis must contain, likewise; needs beams");
  group.add_text("--shortlist-file", arguments.shortlist_file, "FILE",
                 "The only tokens to generate, one a line, as the vocabulary spells them; ids with --token-ids");
}

}  // namespace

void add_generation_options(CLI::App& command, GenerationArguments& arguments) {
  GenerateOptions& options = arguments.options;
  add_search_options(command, options);
  add_length_options(command, options);
  add_sampling_options(command, options);
  add_repetition_options(command, options);
  add_token_options(command, arguments);
  add_language_options(command, options.source_lang, options.target_lang);
}

GenerateOptions with_tokens(const GenerationArguments& arguments, const TokenLookup& lookup) {
  GenerateOptions options = arguments.options;
  if (!arguments.forced_bos_token.empty()) {
    options.forced_bos_token = lookup.named("--forced-bos-token", arguments.forced_bos_token);
  }
  if (!arguments.forced_eos_token.empty()) {
    options.forced_eos_tokens = {lookup.named("--forced-eos-token", arguments.forced_eos_token)};
  }
  if (!arguments.suppress_tokens.empty()) {
    options.suppress_tokens = lookup.ids("--suppress-tokens", arguments.suppress_tokens);
  }
  if (!arguments.begin_suppress_tokens.empty()) {
    options.begin_suppress_tokens = lookup.ids("--begin-suppress-tokens", arguments.begin_suppress_tokens);
  }
  if (!arguments.bad_words_file.empty()) {
    options.bad_words = lookup.phrases(arguments.bad_words_file, TokenLookup::Forms::all);
  }
  if (!arguments.force_words_file.empty()) {
    options.force_words = lookup.phrases(arguments.force_words_file, TokenLookup::Forms::after_space);
  }
  if (!arguments.shortlist_file.empty()) options.shortlist = lookup.tokens(arguments.shortlist_file);
  return options;
}

}  // namespace encdec::cli

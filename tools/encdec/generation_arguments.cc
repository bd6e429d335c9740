#include "encdec/generation_arguments.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/tokenizer/base/tokenizer.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "encdec/line_reader.h"
#include "encdec/option_rows.h"
#include "encdec/options.h"

namespace encdec::cli {
namespace {

template <class T>
using Member = Setting::Member<T>;

std::string name_of(const Setting& setting) {
  return std::string(setting.usage.substr(0, setting.usage.find(' ')));
}
std::string_view type_of(const Setting& setting) {
  return setting.usage.substr(setting.usage.find(' ') + 1);
}

std::optional<ExponentialDecay> parse_decay(const Setting& setting, const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return std::nullopt;
  const std::string start = text.substr(0, comma), factor = text.substr(comma + 1);
  if (!integer_from(0, kMaxTokens)(start).empty()) return std::nullopt;
  if (!number_from(setting.range.min, setting.range.max)(factor).empty()) return std::nullopt;
  return ExponentialDecay{std::stoi(start), std::stof(factor)};
}

// A visitor that adds the option of one setting. There is an overload for each type of value, which checks and parses
// the typed text.
class SettingOption {
 public:
  SettingOption(CLI::App& command, const Setting& setting, GenerationArguments& arguments)
      : command_(command), setting_(setting), arguments_(arguments) {}

  void operator()(Member<bool> member) const {
    const auto parse = [](const std::string& text) { return text != "false"; };
    take_words(add(member, parse)->expected(0, 1), {"true", "false"});
  }
  void operator()(Member<int> member) const {
    if (setting_.range.tokens != Setting::Range::Tokens::none) return static_cast<void>(add_token_text());
    const auto [min, max, tokens] = setting_.range;
    add(member, parse_number<int>)->check(integer_from(static_cast<std::int64_t>(min), static_cast<std::int64_t>(max)));
  }
  void operator()(Member<std::uint64_t> member) const {
    add(member, parse_number<std::uint64_t>)->check(integer_from(0, std::numeric_limits<std::int64_t>::max()));
  }
  void operator()(Member<float> member) const {
    const auto parse = [](const std::string& text) { return static_cast<float>(*parse_number<double>(text)); };
    add(member, parse)->check(number_from(setting_.range.min, setting_.range.max));
  }
  void operator()(Member<EarlyStopping> member) const {
    const auto parse = [](const std::string& text) {
      return text == "true"    ? EarlyStopping::when_full
             : text == "never" ? EarlyStopping::never
                               : EarlyStopping::heuristic;
    };
    take_words(add(member, parse), {"true", "false", "never"});
  }
  void operator()(Member<ExponentialDecay> member) const {
    const auto parse = [&setting = setting_](const std::string& text) { return parse_decay(setting, text); };
    add(member, parse)
        ->check(expecting(fmt::format("START,FACTOR: an integer from 0 to {} and a number above 0", kMaxTokens),
                          [parse](const std::string& text) { return parse(text).has_value(); }));
  }
  void operator()(Member<TokenIds> /*member*/) const {
    CLI::Option* option = add_token_text();
    if (type_of(setting_) == "IDS") option->check(token_id_list());
  }
  void operator()(Member<std::vector<TokenIds>> /*member*/) const { add_token_text(); }

 private:
  // Adds an option that sets `member` to parse(text).
  template <class T, class Parse>
  CLI::Option* add(Member<T> member, const Parse& parse) const {
    return add_with(
        [member, parse, &options = arguments_.options](const std::string& text) { options.*member = parse(text); });
  }
  CLI::Option* add_token_text() const {
    return add_with([&setting = setting_, &texts = arguments_.token_texts](const std::string& text) {
      if (!text.empty()) texts.emplace_back(&setting, text);
    });
  }
  template <class Take>
  CLI::Option* add_with(const Take& take) const {
    return command_.add_option_function<std::string>(name_of(setting_), take, std::string(setting_.help))
        ->group(std::string(setting_.group))
        ->type_name(std::string(type_of(setting_)));
  }

  CLI::App& command_;
  const Setting& setting_;
  GenerationArguments& arguments_;
};

// A lookup of target tokens that options and their files name.
class TokenLookup {
 public:
  TokenLookup(const Model& model, LineForm form, const GenerateOptions& options)
      : model_(model),
        form_(form),
        languages_{.source_language = options.source_lang, .target_language = options.target_lang} {}

  // Returns the id for `name`, which is a token as the vocabulary spells it, a language, or an id. A number that is
  // also a token of the vocabulary counts as an id with LineForm::token_ids, and as the token otherwise.
  std::int32_t named(const std::string& option, const std::string& name) const {
    const bool is_number =
        !name.empty() && name.size() < 10 && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (is_number && form_ == LineForm::token_ids) return std::stoi(name);
    if (const Tokenizer* tokenizer = model_.tokenizer()) {
      if (const auto id = tokenizer->token_id(name)) return *id;
      if (const auto id = tokenizer->language_token(name)) return *id;
    }
    if (is_number) return std::stoi(name);
    throw ConfigError(
        fmt::format("{}: {} '{}', expected a token of the vocabulary or its id", model_.parts().origin, option, name));
  }

  TokenIds ids(const std::string& option, const std::string& text) const {
    return parse_token_ids(text, model_.config().decoder.vocabulary, option);
  }

  // Forms of a phrase to return: at the beginning of a text, a phrase may have other tokens than after a space.
  enum class Forms : std::uint8_t { all, after_space };
  // Reads a file of phrases, one per line. Skips empty lines.
  std::vector<TokenIds> phrases(const std::string& path, Forms forms) const {
    std::vector<TokenIds> phrases;
    LineReader reader(path);
    for (std::string line; reader.next(line);) {
      if (!line.empty()) add_phrase(line, reader.position(), forms, phrases);
    }
    return phrases;
  }

  // Reads a file of tokens, one per line, as the vocabulary spells them. With LineForm::token_ids, a line holds any
  // number of ids.
  TokenIds tokens(const std::string& path) const {
    TokenIds tokens;
    LineReader reader(path);
    for (std::string line; reader.next(line);) {
      if (form_ == LineForm::token_ids) {
        const TokenIds more = ids(reader.position(), line);
        tokens.insert(tokens.end(), more.begin(), more.end());
      } else if (!line.empty()) {
        const auto id = model_.tokenizer()->token_id(line);
        if (!id) throw InputError(fmt::format("{}: '{}', expected a token of the vocabulary", reader.position(), line));
        tokens.push_back(*id);
      }
    }
    if (tokens.empty()) throw InputError(fmt::format("{}: no tokens, expected at least one", path));
    return tokens;
  }

 private:
  void add_phrase(const std::string& line, const std::string& position, Forms forms,
                  std::vector<TokenIds>& phrases) const {
    const std::size_t before = phrases.size();
    const auto add = [&](TokenIds ids) {
      const bool file_exists = phrases.size() > before && phrases.back() == ids;
      if (!ids.empty() && !file_exists) phrases.push_back(std::move(ids));
    };
    if (form_ == LineForm::token_ids) {
      add(ids(position, line));
    } else {
      check_utf8(line, position);
      if (forms == Forms::all) add(encode_target_part(*model_.tokenizer(), line, languages_));
      add(encode_after_space(*model_.tokenizer(), line, languages_));
    }
    if (phrases.size() == before) throw InputError(position + ": no tokens, expected a phrase");
  }

  const Model& model_;
  LineForm form_;
  EncodeOptions languages_;
};

}  // namespace

void add_generation_options(CLI::App& command, GenerationArguments& arguments) {
  for (const std::string_view group : {"Search", "Length", "Sampling", "Repetition", "Tokens", "Guesses"}) {
    for (const Setting& setting : generation_settings()) {
      if (setting.group == group) setting.with_member(SettingOption(command, setting, arguments));
    }
  }
  RowOptions<GenerateOptions> options(command, arguments.options);
  for (const OptionRow<GenerateOptions>& row : generation_call_options()) options.add(row);
}

GenerateOptions with_tokens(const GenerationArguments& arguments, const Model& model, LineForm form) {
  GenerateOptions options = arguments.options;
  const TokenLookup lookup(model, form, options);
  for (const auto& [setting, text] : arguments.token_texts) {
    const std::string name = name_of(*setting);
    const std::string_view type = type_of(*setting);
    if (const auto* token = std::get_if<Member<int>>(&setting->member)) {
      options.** token = lookup.named(name, text);
    } else if (const auto* tokens = std::get_if<Member<TokenIds>>(&setting->member)) {
      options.** tokens = type == "TOKEN" ? TokenIds{lookup.named(name, text)}
                          : type == "IDS" ? lookup.ids(name, text)
                                          : lookup.tokens(text);
    } else if (const auto* phrases = std::get_if<Member<std::vector<TokenIds>>>(&setting->member)) {
      const bool is_bad = *phrases == &GenerateOptions::bad_words;  // a bad phrase is forbidden in all its forms
      options.** phrases = lookup.phrases(text, is_bad ? TokenLookup::Forms::all : TokenLookup::Forms::after_space);
    }
  }
  return options;
}

}  // namespace encdec::cli

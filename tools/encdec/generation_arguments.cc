#include "generation_arguments.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "options.h"

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

// Adds the option of a setting: what may be typed, and what it becomes.
class SettingOption {
 public:
  SettingOption(CLI::App& command, const Setting& setting, GenerationArguments& arguments)
      : command_(command), setting_(setting), arguments_(arguments) {}

  void operator()(Member<bool> member) const {
    const auto set = [member](GenerateOptions& options, const std::string& text) { options.*member = text != "false"; };
    take_words(add(set)->expected(0, 1), {"true", "false"});
  }
  void operator()(Member<int> member) const {
    if (setting_.range.tokens != Setting::Range::Tokens::none) return static_cast<void>(add_token_text());
    const auto set = [member](GenerateOptions& options, const std::string& text) {
      options.*member = parse_number<int>(text);
    };
    add(set)->check(
        integer_from(static_cast<std::int64_t>(setting_.range.min), static_cast<std::int64_t>(setting_.range.max)));
  }
  void operator()(Member<std::uint64_t> member) const {
    const auto set = [member](GenerateOptions& options, const std::string& text) {
      options.*member = parse_number<std::uint64_t>(text);
    };
    add(set)->check(integer_from(0, std::numeric_limits<std::int64_t>::max()));
  }
  void operator()(Member<float> member) const {
    const auto set = [member](GenerateOptions& options, const std::string& text) {
      options.*member = static_cast<float>(*parse_number<double>(text));
    };
    add(set)->check(number_from(setting_.range.min, setting_.range.max));
  }
  void operator()(Member<EarlyStopping> member) const {
    const auto set = [member](GenerateOptions& options, const std::string& text) {
      options.*member = text == "true"    ? EarlyStopping::when_full
                        : text == "never" ? EarlyStopping::never
                                          : EarlyStopping::heuristic;
    };
    take_words(add(set), {"true", "false", "never"});
  }
  void operator()(Member<ExponentialDecay> member) const {
    const auto parse = [&setting = setting_](const std::string& text) { return parse_decay(setting, text); };
    const auto set = [=](GenerateOptions& options, const std::string& text) { options.*member = parse(text); };
    add(set)->check(expecting(fmt::format("START,FACTOR: an integer from 0 to {} and a number above 0", kMaxTokens),
                              [parse](const std::string& text) { return parse(text).has_value(); }));
  }
  void operator()(Member<TokenIds> /*member*/) const {
    CLI::Option* option = add_token_text();
    if (type_of(setting_) == "IDS") option->check(token_id_list());
  }
  void operator()(Member<std::vector<TokenIds>> /*member*/) const { add_token_text(); }

 private:
  // `set(options, text)` gets what was typed.
  template <class Set>
  CLI::Option* add(const Set& set) const {
    const auto take = [set, &options = arguments_.options](const std::string& text) { set(options, text); };
    return add_with(take);
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

}  // namespace

void add_generation_options(CLI::App& command, GenerationArguments& arguments) {
  for (const std::string_view group : {"Search", "Length", "Sampling", "Repetition", "Tokens"}) {
    for (const Setting& setting : generation_settings()) {
      if (setting.group == group) setting.with_member(SettingOption(command, setting, arguments));
    }
  }
  add_language_options(command, arguments.options.source_lang, arguments.options.target_lang);
}

GenerateOptions with_tokens(const GenerationArguments& arguments, const TokenLookup& lookup) {
  GenerateOptions options = arguments.options;
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
      const bool is_bad = *phrases == &GenerateOptions::bad_words;  // none of a phrase's forms may come
      options.** phrases = lookup.phrases(text, is_bad ? TokenLookup::Forms::all : TokenLookup::Forms::after_space);
    }
  }
  return options;
}

}  // namespace encdec::cli

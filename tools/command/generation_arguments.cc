#include "command/generation_arguments.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/tokenizer/base/tokenizer.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "command/line_reader.h"
#include "command/option_rows.h"
#include "command/options.h"

namespace encdec::cli {
namespace {

// Looks up target tokens that options name, directly or in a file.
class TokenLookup {
 public:
  TokenLookup(const Model& model, LineForm form, const GenerateOptions& options)
      : model_(model),
        form_(form),
        languages_{.source_language = options.source_lang, .target_language = options.target_lang} {}

  // Returns the id for `name`: a token as the vocabulary spells it, a language, or an id. A number that is also a token
  // counts as an id with LineForm::token_ids, and as the token otherwise.
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

  // Which tokenizations of a phrase to return: its tokens at the start of a text and after a space may differ.
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

  // Reads a file of tokens, one per line, as the vocabulary spells them. With LineForm::token_ids, a line may have any
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
      const bool is_known = phrases.size() > before && phrases.back() == ids;
      if (!ids.empty() && !is_known) phrases.push_back(std::move(ids));
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
  const auto add = [&](const OptionRow<GenerateOptions>& row) {
    if (!row.range.is_token) return add_option(command, row, row.value(arguments.options));
    CLI::Option* option =
        add_text_option(command, row, [&row, &texts = arguments.token_texts](const std::string& text) {
          if (!text.empty()) texts.emplace_back(&row, text);
        });
    return row.type == "IDS" ? option->check(token_id_list()) : option;
  };
  for (const std::string_view group :
       {"Search", "Length", "Sampling", "Repetition", "Tokens", "Speculative decoding"}) {
    for (const OptionRow<GenerateOptions>& row : generation_settings()) {
      if (row.group == group) add(row);
    }
  }
  for (const OptionRow<GenerateOptions>& row : generation_call_options()) add(row);
}

GenerateOptions with_tokens(const GenerationArguments& arguments, const Model& model, LineForm form) {
  using Forms = TokenLookup::Forms;
  GenerateOptions options = arguments.options;
  const TokenLookup lookup(model, form, options);
  for (const auto& [row, text] : arguments.token_texts) {
    const std::string name = command_names(*row);
    row->visit(options, [&, row = row, &text = text]<class T>(std::optional<T>& value) {
      if constexpr (std::is_same_v<T, int>) {
        value = lookup.named(name, text);
      } else if constexpr (std::is_same_v<T, TokenIds>) {
        value = row->type == "TOKEN" ? TokenIds{lookup.named(name, text)}
                : row->type == "IDS" ? lookup.ids(name, text)
                                     : lookup.tokens(text);
      } else if constexpr (std::is_same_v<T, std::vector<TokenIds>>) {
        // Bad words are forbidden at the start of a text too.
        value = lookup.phrases(text, row->name == "bad_words" ? Forms::all : Forms::after_space);
      }
    });
  }
  return options;
}

}  // namespace encdec::cli

#include "token_lookup.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/tokenizer/base/tokenizer.h>
#include <fmt/format.h>

#include <algorithm>

#include "line_reader.h"

namespace encdec::cli {

TokenLookup::TokenLookup(const Model& model, LineForm form, EncodeOptions languages)
    : model_(model), form_(form), languages_(std::move(languages)) {}

std::int32_t TokenLookup::named(const std::string& option, const std::string& name) const {
  const bool is_number =
      !name.empty() && name.size() < 10 && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
  if (is_number && form_ == LineForm::token_ids) return std::stoi(name);
  if (const Tokenizer* tokenizer = model_.tokenizer()) {
    if (const auto id = tokenizer->token_id(name)) return *id;
    if (const auto id = tokenizer->language_token(name)) return *id;
  }
  if (is_number) return std::stoi(name);
  throw ConfigError(fmt::format("{}: {} '{}', expected a token of the vocabulary or its id", model_.weights().origin(),
                                option, name));
}

TokenIds TokenLookup::ids(const std::string& option, const std::string& text) const {
  return parse_token_ids(text, model_.config().decoder.vocabulary, option);
}

std::vector<TokenIds> TokenLookup::phrases(const std::string& path, Forms forms) const {
  std::vector<TokenIds> phrases;
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    if (!line.empty()) add_phrase(line, reader.position(), forms, phrases);
  }
  return phrases;
}

void TokenLookup::add_phrase(const std::string& line, const std::string& position, Forms forms,
                             std::vector<TokenIds>& phrases) const {
  const std::size_t before = phrases.size();
  const auto add = [&](TokenIds ids) {
    const bool is_there = phrases.size() > before && phrases.back() == ids;
    if (!ids.empty() && !is_there) phrases.push_back(std::move(ids));
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

TokenIds TokenLookup::tokens(const std::string& path) const {
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

}  // namespace encdec::cli

#include "encdec/speech/transcription/whisper_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/whisper_format.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"

namespace encdec {
namespace {

// Minimum vocabulary size of multilingual models, as in openai/whisper (model.py, is_multilingual).
constexpr std::int32_t kMultilingual = 51865;

// Reads a JSON file of the checkpoint. Returns nullopt if the file does not exist.
std::optional<JsonObject> read_optional(const Checkpoint& checkpoint, const char* file) {
  const std::filesystem::path path = checkpoint.folder / file;
  return file_exists(path) ? std::optional(read_json_object(path)) : std::nullopt;
}

// Returns the pairs (layer, head) in "alignment_heads". Returns no pairs if this setting is missing.
std::vector<std::pair<int, int>> alignment_heads_in(const std::optional<JsonObject>& settings,
                                                    const TransformerConfig& config) {
  std::vector<std::pair<int, int>> heads;
  if (!settings || !settings->has("alignment_heads")) return heads;
  const std::int64_t most = std::max(config.decoder.layers, config.decoder.attention.heads) - 1;
  for (const auto& pair : settings->integer_lists("alignment_heads", {0, most})) {
    if (pair.size() != 2 || pair[0] >= config.decoder.layers || pair[1] >= config.decoder.attention.heads) {
      refuse<ConfigError>(settings->file(), "'alignment_heads': expected pairs of a layer below {} and a head below {}",
                          config.decoder.layers, config.decoder.attention.heads);
    }
    heads.emplace_back(static_cast<int>(pair[0]), static_cast<int>(pair[1]));
  }
  return heads;
}

// Returns the heads in generation_config.json, else in config.json (CTranslate2), else the heads in openai/whisper.
std::vector<std::pair<int, int>> alignment_heads_of(const Checkpoint& checkpoint,
                                                    const std::optional<JsonObject>& generation_config,
                                                    const TransformerConfig& config) {
  auto heads = alignment_heads_in(generation_config, config);
  if (heads.empty()) heads = alignment_heads_in(read_optional(checkpoint, "config.json"), config);
  return heads.empty() ? whisper_alignment_heads(config) : heads;
}

}  // namespace

WhisperTokens::WhisperTokens(const Tokenizer* tokenizer, std::int32_t vocabulary, std::optional<bool> multilingual,
                             const std::string& origin)
    : tokenizer_(tokenizer), origin_(origin) {
  is_multilingual = multilingual.value_or(vocabulary >= kMultilingual);
  // If openai has a vocabulary of this size, `names` has the names of its special tokens.
  const std::int64_t text_tokens = whisper_text_tokens(vocabulary).value_or(vocabulary);
  std::vector<std::string> names = whisper_special_tokens(vocabulary - text_tokens);
  if (std::ssize(names) < vocabulary - text_tokens) names.clear();
  const auto known = [&](std::string_view name) -> std::optional<std::int32_t> {
    const auto id = tokenizer != nullptr ? tokenizer->token_id(name) : std::nullopt;
    if (id && *id < vocabulary) return id;
    const auto listed = std::ranges::find(names, name);
    if (listed == names.end()) return std::nullopt;
    return static_cast<std::int32_t>(text_tokens + (listed - names.begin()));
  };
  const auto required = [&](std::string_view name) {
    if (const auto id = known(name)) return *id;
    refuse<ConfigError>(origin, "no token {} and {} tokens, expected a tokenizer that has it, or one of openai's sizes",
                        name, vocabulary);
  };
  end_of_text = required(kWhisperEnd);
  start = required(kWhisperStart);
  translate = required("<|translate|>");
  transcribe = required("<|transcribe|>");
  start_of_lm = required("<|startoflm|>");
  start_of_prev = required("<|startofprev|>");
  const auto old_name = known("<|nocaptions|>");
  no_speech = old_name ? *old_name : required("<|nospeech|>");
  no_timestamps = required("<|notimestamps|>");
  first_timestamp = no_timestamps + 1;
  // Collect the languages whose tokens are between the start token and the tokens of the tasks, as in Whisper.
  for (const WhisperLanguage& language : whisper_languages()) {
    const auto token = known(fmt::format("<|{}|>", language.code));
    if (token && *token > start && *token < translate) languages.push_back({language.code, *token});
  }
  if (tokenizer == nullptr) return;
  bytes_.resize(static_cast<std::size_t>(end_of_text));
  for (std::int32_t id = 0; id < end_of_text; ++id) {
    try {
      piece_decoders::append_piece_bytes(tokenizer->piece(id, TextSide::target), bytes_[static_cast<std::size_t>(id)]);
    } catch (const InputError&) {
      continue;  // the vocabulary has no token with this id
    }
  }
}

std::string WhisperTokens::bytes(std::span<const std::int32_t> tokens) const {
  std::string result;
  for (const std::int32_t token : tokens) {
    if (token >= 0 && token < static_cast<std::int32_t>(bytes_.size()))
      result += bytes_[static_cast<std::size_t>(token)];
  }
  return result;
}

std::string WhisperTokens::text(std::span<const std::int32_t> tokens) const {
  return replace_invalid_utf8(bytes(tokens));
}

TokenIds WhisperTokens::encode(std::string_view text) const {
  if (tokenizer_ == nullptr) refuse<TokenizerError>(origin_, "no tokenizer files, expected Whisper's tokenizer");
  TokenIds ids = encode_target_part(*tokenizer_, text);
  // Drop special tokens. The tokenizer returns them if the text contains their names.
  std::erase_if(ids, [this](std::int32_t id) { return id >= end_of_text; });
  return ids;
}

TokenIds WhisperTokens::blank() const {
  return tokenizer_ != nullptr ? encode(" ") : TokenIds();
}

std::optional<std::int32_t> WhisperTokens::language(std::string_view name) const {
  const auto code = whisper_language_code(name);
  const auto found = code ? std::ranges::find(languages, *code, &Language::code) : languages.end();
  return found == languages.end() ? std::nullopt : std::optional(found->token);
}

std::string_view WhisperTokens::code_of(std::int32_t language) const {
  return std::ranges::find(languages, language, &Language::token)->code;
}

std::vector<std::string> WhisperTokens::language_codes() const {
  if (!is_multilingual) return {"en"};
  std::vector<std::string> codes;
  for (const Language& language : languages) codes.emplace_back(language.code);
  return codes;
}

TokenIds WhisperTokens::non_speech() const {
  if (tokenizer_ == nullptr) return {};
  std::vector<std::string> symbols;
  for (const char c : std::string_view("\"#()*+/:;<=>@[\\]^_`{|}~")) symbols.emplace_back(1, c);
  for (const char* symbol : {"「", "」",  "『", "』", "<<",  ">>",  "<<<", ">>>", "--", "---", "-(", "-[",
                             "('", "(\"", "((", "))", "(((", ")))", "[[",  "]]",  "{{", "}}",  "♪♪", "♪♪♪"}) {
    symbols.emplace_back(symbol);
  }
  // If a musical symbol has several tokens, use its first token.
  constexpr std::array kMusic = {"♩", "♪", "♫", "♬", "♭", "♮", "♯"};
  // Always include " -" and " '", but not "-" and "'", which occur within words.
  TokenIds tokens = {encode(" -").front(), encode(" '").front()};
  const auto add = [&](const std::string& symbol, bool is_music) {
    for (const std::string& text : {symbol, " " + symbol}) {
      const TokenIds ids = encode(text);
      if (ids.size() == 1 || (is_music && !ids.empty())) tokens.push_back(ids.front());
    }
  };
  for (const std::string& symbol : symbols) add(symbol, false);
  for (const char* symbol : kMusic) add(symbol, true);
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

WhisperFacts::WhisperFacts(const Checkpoint& checkpoint, const TransformerConfig& config, const Tokenizer* tokenizer)
    : WhisperFacts(checkpoint, read_optional(checkpoint, "generation_config.json"), config, tokenizer) {}

WhisperFacts::WhisperFacts(const Checkpoint& checkpoint, const std::optional<JsonObject>& generation_config,
                           const TransformerConfig& config, const Tokenizer* tokenizer)
    : tokens(tokenizer, static_cast<std::int32_t>(config.decoder.vocabulary),
             generation_config ? generation_config->boolean("is_multilingual") : std::nullopt,
             checkpoint.folder.string()),
      mel(static_cast<int>(config.encoder.frames.width)),
      positions(config.encoder.positions.count),
      context(config.decoder.positions.count),
      alignment_heads(alignment_heads_of(checkpoint, generation_config, config)),
      non_speech(tokens.non_speech()) {}

}  // namespace encdec

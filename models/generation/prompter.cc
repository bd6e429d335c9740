#include "encdec/models/generation/prompter.h"

#include <fmt/ranges.h>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/session/token_rows.h"

namespace encdec {

const Tokenizer& tokenizer_of(const ModelParts& parts) {
  if (parts.tokenizer != nullptr) return *parts.tokenizer;
  refuse<TokenizerError>(parts.origin, "no tokenizer files, expected token ids as input");
}

void expect_text_model(const ModelParts& parts) {
  const TransformerConfig& config = parts.network.config;
  if (config.source_kind() == SourceKind::tokens) return;
  refuse<ConfigError>(parts.origin, "is a {} model, which reads audio; expected a text model", config.model_type);
}

void expect_speech_model(const ModelParts& parts) {
  const TransformerConfig& config = parts.network.config;
  if (config.source_kind() == SourceKind::frames) return;
  refuse<ConfigError>(parts.origin, "is a {} model, which reads text; expected a speech model", config.model_type);
}

TokenIds encode_target(const ModelParts& parts, const std::string& target, const EncodeOptions& languages) {
  const Tokenizer& tokenizer = tokenizer_of(parts);
  TokenIds ids = tokenizer.encode_target(target, languages);
  if (parts.network.config.target_language != TargetLanguage::start_token || ids.empty()) return ids;
  // The tokenizers of these models put the language token at the end of a target. Drop this token, because the decoder
  // starts with it.
  const auto token = tokenizer.language_token(languages.target_language);
  if (token ? ids.back() == *token : ids.back() == parts.defaults.decoder_start_token) ids.pop_back();
  return ids;
}

GenerateOptions defaults_with_languages(const ModelParts& parts, const std::string& source_lang,
                                        const std::string& target_lang) {
  GenerateOptions settings = parts.defaults;
  settings.source_lang = source_lang;
  settings.target_lang = target_lang;
  if (source_lang.empty() && target_lang.empty()) return settings;
  const Tokenizer* tokenizer = parts.tokenizer;
  if (tokenizer == nullptr || tokenizer->languages().empty()) {
    refuse<ConfigError>(parts.origin, "the model has no language codes, expected neither source_lang nor target_lang");
  }
  for (const std::string& language : {source_lang, target_lang}) {
    if (language.empty() || tokenizer->language_token(language)) continue;
    refuse<ConfigError>(parts.origin, "language '{}' is not known, expected one of {}", printable(language),
                        fmt::join(tokenizer->languages(), ", "));
  }
  if (target_lang.empty()) return settings;
  // Store the target language's token in the setting that this model uses.
  const auto token = tokenizer->language_token(target_lang);
  switch (parts.network.config.target_language) {
    case TargetLanguage::none: break;
    case TargetLanguage::first_token: settings.forced_bos_token = token; break;
    case TargetLanguage::start_token: settings.decoder_start_token = token; break;
  }
  return settings;
}

Prompter::Prompter(const ModelParts& parts, const GenerateOptions& settings)
    : parts_(parts),
      settings_(settings),
      languages_{.source_language = settings.source_lang, .target_language = settings.target_lang} {
  const TransformerConfig& config = parts.network.config;
  if (!config.has_encoder() || settings.decoder_start_token) return;
  refuse<ConfigError>(parts.origin, "no decoder_start_token_id, expected {}",
                      config.target_language == TargetLanguage::start_token
                          ? "a target language to begin with"
                          : "one in generation_config.json or config.json");
}

Prompt Prompter::start(const TokenIds& source, std::size_t number) const {
  if (!parts_.network.config.has_encoder()) return {.target = source, .number = number};
  return {.source = source, .target = {*settings_.decoder_start_token}, .number = number};
}

TokenIds Prompter::prefix_of(const GenerateInput& input) const {
  if (const auto* ids = std::get_if<TokenIds>(&input.prefix)) return *ids;
  const auto* text = std::get_if<std::string>(&input.prefix);
  return text == nullptr || text->empty() ? TokenIds() : encode_target_part(tokenizer_of(parts_), *text, languages_);
}

// Returns the tokens of an input's draft. If draft_source is set, the source is the draft of an input without a draft.
TokenIds Prompter::draft_of(const GenerateInput& input, const TokenIds& source, std::size_t number) const {
  if (const auto* ids = std::get_if<TokenIds>(&input.draft)) {
    check_tokens(*ids, {.vocabulary = parts_.network.config.decoder.vocabulary}, "draft of source", number);
    return *ids;
  }
  const auto* text = std::get_if<std::string>(&input.draft);
  if (text == nullptr && settings_.draft_source) text = std::get_if<std::string>(&input.source);
  if (text != nullptr) return text->empty() ? TokenIds() : encode_target(parts_, *text, languages_);
  return settings_.draft_source ? source : TokenIds();
}

// Returns the maximum number of source tokens, within the model's position limit.
std::size_t Prompter::source_limit() const {
  const auto positions = parts_.network.config.input_stack().position_limit();
  const int asked = settings_.max_source_tokens;
  const auto limit = static_cast<std::size_t>(asked > 0 ? asked : positions.value_or(kMaxSourceTokens));
  return positions ? std::min(limit, static_cast<std::size_t>(*positions)) : limit;
}

// Truncates a source to source_limit() tokens. Tokenizes a source text again, so that the special tokens are kept.
TokenIds Prompter::truncated(const GenerateInput& input, TokenIds source) const {
  const std::size_t limit = source_limit();
  if (const auto* text = std::get_if<std::string>(&input.source)) {
    EncodeOptions options = languages_;
    options.max_length = limit;
    return tokenizer_of(parts_).encode(*text, options);
  }
  source.resize(limit);
  return source;
}

Prompt Prompter::audio_prompt(const Tensor& frames, const TokenIds& prefix, std::size_t number) const {
  const TransformerConfig& config = parts_.network.config;
  if (config.source_kind() != SourceKind::frames) {
    refuse<ConfigError>(parts_.origin, "{} reads text, expected a text or token ids", config.model_type);
  }
  check_frames(frames, config.encoder, "source", number);
  Prompt prompt{.frames = frames,
                .frame_rows = static_cast<std::size_t>(config.encoder.frames.rows_of(frames.rows())),
                .target = {*settings_.decoder_start_token},
                .number = number};
  prompt.source_tokens = prompt.source_rows();
  add_prefix(prefix, prompt);
  return prompt;
}

void Prompter::add_prefix(const TokenIds& prefix, Prompt& prompt) const {
  prompt.target.insert(prompt.target.end(), prefix.begin(), prefix.end());
  prompt.prefix_length = prefix.size();
  check_tokens(prompt.target, parts_.network.config.decoder, "prefix of source", prompt.number);
}

Prompt Prompter::prompt(const GenerateInput& input, std::size_t number) const {
  const TransformerConfig& config = parts_.network.config;
  if (!input.frames.empty()) return audio_prompt(input.frames, prefix_of(input), number);
  expect_text_model(parts_);
  const auto* text = std::get_if<std::string>(&input.source);
  // An empty text has no tokens, although the tokenizer would add an end token.
  TokenIds source = text == nullptr ? std::get<TokenIds>(input.source)
                    : text->empty() ? TokenIds()
                                    : tokenizer_of(parts_).encode(*text, languages_);
  // Truncate or refuse a source that is too long.
  const bool is_long = source.size() > source_limit();
  const bool is_truncated = is_long && settings_.long_sources != LongSources::error;
  if (is_truncated) source = truncated(input, std::move(source));
  check_tokens(source, config.input_stack(), "source", number);
  if (is_long && !is_truncated) {
    throw InputError(fmt::format("source {}: {} tokens, expected at most {}, which is max_source_tokens", number,
                                 source.size(), source_limit()));
  }
  if (source.empty()) return {};
  Prompt prompt = start(source, number);
  prompt.source_tokens = source.size();
  prompt.source_truncated = is_truncated;
  TokenIds prefix = prefix_of(input);
  prompt.draft = draft_of(input, source, number);
  // If the model expects the target language as the first token, insert that token before the prefix and the draft.
  if (!settings_.target_lang.empty() && config.target_language == TargetLanguage::first_token && config.has_encoder()) {
    for (TokenIds* tokens : {&prefix, &prompt.draft}) {
      if (tokens->empty() || tokens->front() == *settings_.forced_bos_token) continue;
      tokens->insert(tokens->begin(), *settings_.forced_bos_token);
    }
  }
  add_prefix(prefix, prompt);
  return prompt;
}

ForcedTarget Prompter::force(const TokenIds& source, const TokenIds& target, std::size_t number) const {
  const StackConfig& decoder = parts_.network.config.decoder;
  ForcedTarget forced{.prompt = start(source, number), .target = target, .decoder_input = {}};
  // Leave out the last token of the target, because no token after it is scored.
  forced.decoder_input = forced.prompt.target;
  if (!target.empty()) forced.decoder_input.insert(forced.decoder_input.end(), target.begin(), target.end() - 1);
  check_tokens(target, {.vocabulary = decoder.vocabulary}, "target", number);
  check_tokens(forced.decoder_input, decoder, "target", number);
  return forced;
}

}  // namespace encdec

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/session/session_pool.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

class LexicalShortlist;

// The parts of a model for generation, scoring and attention maps. The parts must outlive the objects that use them.
struct ModelParts {
  const Transformer& network;
  const GenerateOptions& defaults;  // the checkpoint's settings, with_neutral_values()
  const Tokenizer* tokenizer;       // may be null
  const std::string& origin;        // the model's path, for error messages
  SessionPool& sessions;
  std::shared_ptr<const LexicalShortlist> lexical_shortlist = {};  // null if the model has none
};

// Throws TokenizerError if there is no tokenizer.
const Tokenizer& tokenizer_of(const ModelParts& parts);

// Throws ConfigError if the model reads audio instead of text.
void expect_text_model(const ModelParts& parts);
// Throws ConfigError if the model reads text.
void expect_speech_model(const ModelParts& parts);

// Tokenizes a whole target, without the tokens that the decoder starts with.
TokenIds encode_target(const ModelParts& parts, const std::string& target, const EncodeOptions& languages);

// Returns the model's default settings with these languages (either may be empty), including the token for the target
// language, if it is the first token or the start token. Throws ConfigError for an unknown language.
GenerateOptions defaults_with_languages(const ModelParts& parts, const std::string& source_lang,
                                        const std::string& target_lang);

// An input as the model reads it.
struct Prompt {
  TokenIds source = {};                           // tokens for the encoder; empty for a decoder-only model
  std::size_t second_segment = kNoSecondSegment;  // as in Encoding, for `source`
  Tensor frames = {};                             // frames of audio, instead of `source`
  std::size_t frame_rows = 0;                     // number of encoder rows for `frames`
  Tensor encoded = {};                            // encoder rows for `frames`, if known (see StreamingEncoder)
  TokenIds draft = {};                            // draft of the result, prefix included; may be empty
  TokenIds target = {};                           // start token and prefix, or whole prompt
  std::size_t prefix_length = 0;                  // number of prefix tokens at the end of `target`
  std::size_t number = 0;                         // number of the source in messages, from 1
  std::size_t source_tokens = 0;
  bool source_truncated = false;

  std::size_t source_rows() const { return frames.empty() ? source.size() : frame_rows; }
};

// A given target, which the decoder reads instead of generating a target (teacher forcing).
struct ForcedTarget {
  Prompt prompt;
  TokenIds target;         // may be empty
  TokenIds decoder_input;  // the prompt's target, then `target` without its last token
};

// Converts inputs to prompts. Error messages contain the number of the source.
class Prompter {
 public:
  // Throws ConfigError if the model has an encoder but `settings` has no decoder start token.
  // REQUIRES: `settings` outlives this object.
  Prompter(const ModelParts& parts, const GenerateOptions& settings);

  // Returns an empty Prompt for an empty source. Throws InputError for unknown or too many tokens.
  Prompt prompt(const GenerateInput& input, std::size_t number) const;
  // Makes a prompt with a given target. Throws as prompt(), but checks the target only.
  // REQUIRES: the caller has checked `source`.
  ForcedTarget force(const TokenIds& source, const TokenIds& target, std::size_t number) const;

 private:
  Prompt start(const TokenIds& source, std::size_t number) const;
  Prompt audio_prompt(const Tensor& frames, const TokenIds& prefix, std::size_t number) const;
  void add_prefix(const TokenIds& prefix, Prompt& prompt) const;
  std::size_t source_limit() const;
  TokenIds truncated(const GenerateInput& input, TokenIds source) const;
  TokenIds prefix_of(const GenerateInput& input) const;
  TokenIds draft_of(const GenerateInput& input, const TokenIds& source, std::size_t number) const;

  ModelParts parts_;
  const GenerateOptions& settings_;
  EncodeOptions languages_;
};

}  // namespace encdec

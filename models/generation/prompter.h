#pragma once

#include <cstddef>
#include <string>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/session/session_pool.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// What of a model generating, scoring and telling attention need; all must outlive them.
struct ModelParts {
  const Transformer& network;
  const GenerateOptions& defaults;  // with_neutral_values()
  const Tokenizer* tokenizer;       // null where there is none
  const std::string& origin;        // of the model, for messages
  SessionPool& sessions;
};

// Throws TokenizerError if there is none.
const Tokenizer& tokenizer_of(const ModelParts& parts);

// Throws ConfigError if the model reads sound: for what is given text or tokens.
void expect_reader(const ModelParts& parts);
// Throws ConfigError if the model reads text.
void expect_sound(const ModelParts& parts);

// The ids of a whole target without what the decoder starts with.
TokenIds encode_target(const ModelParts& parts, const std::string& target, const EncodeOptions& languages);

// The model's defaults where such languages are asked for: what they mean for the decoder. What they mean for a source
// is the tokenizer's matter. Throws ConfigError for a language that the model does not know.
GenerateOptions defaults_with_languages(const ModelParts& parts, const std::string& source_lang,
                                        const std::string& target_lang);

// One thing to go on from.
struct Prompt {
  TokenIds source = {};  // what the encoder reads; empty in a decoder-only model
  Tensor frames = {};    // what it reads instead where it reads sound: [F, mel bands]
  TokenIds target = {};  // what comes first: start token and prefix, or a decoder-only model's prompt; not empty
  std::size_t prefix_length = 0;  // tokens at the end of `target` that belong to the result
  std::size_t number = 0;         // of the source, for messages: from 1
  std::size_t source_tokens = 0;
  bool source_truncated = false;

  // Rows of the encoder.
  std::size_t source_rows() const {
    return frames.empty() ? source.size() : static_cast<std::size_t>(frames.rows() / kFramesPerRow);
  }
};

// A target that a decoder is made to read (teacher forcing).
struct ForcedTarget {
  Prompt prompt;
  TokenIds target;         // may be empty
  TokenIds decoder_input;  // the prompt's target, then the target but for its last token, which nothing follows
};

// Turns sources into prompts, for whatever the model is to do with them. Messages name sources by their number.
class Prompter {
 public:
  // Languages and start token are those of the settings. Throws ConfigError where an encoder's model has no start
  // token.
  Prompter(const ModelParts& parts, const GenerateOptions& settings);

  // Throws InputError for tokens that the model does not have, or too many of them. An empty source gives an empty
  // target.
  Prompt prompt(const GenerateInput& input, std::size_t number) const;
  // Likewise; the source was checked before.
  ForcedTarget force(const TokenIds& source, const TokenIds& target, std::size_t number) const;

 private:
  Prompt start(const TokenIds& source, std::size_t number) const;
  Prompt sound_prompt(const Tensor& frames, const TokenIds& prefix, std::size_t number) const;
  std::size_t source_limit() const;
  TokenIds truncated(const GenerateInput& input, TokenIds source) const;
  TokenIds prefix_of(const GenerateInput& input) const;

  ModelParts parts_;
  const GenerateOptions& settings_;
  EncodeOptions languages_;
};

}  // namespace encdec

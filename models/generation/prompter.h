#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/session/session_pool.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

class LexicalShortlist;

// The parts of a model that generation, scoring and attention maps use. The objects must outlive their users.
struct ModelParts {
  const Transformer& network;
  const GenerateOptions& defaults;  // the checkpoint's settings, with_neutral_values()
  const Tokenizer* tokenizer;       // may be null
  const std::string& origin;        // the model's path, for messages
  SessionPool& sessions;
  std::shared_ptr<const LexicalShortlist> lexical_shortlist = {};  // null if the model has none
};

// Returns the tokenizer. Throws TokenizerError if there is none.
const Tokenizer& tokenizer_of(const ModelParts& parts);

// Throws ConfigError if the model reads audio instead of text.
void expect_text_model(const ModelParts& parts);
// Throws ConfigError if the model reads text.
void expect_speech_model(const ModelParts& parts);

// Returns the token ids of a whole target, without the tokens that the decoder starts with.
TokenIds encode_target(const ModelParts& parts, const std::string& target, const EncodeOptions& languages);

// Returns the model's default settings for a pair of languages; either may be empty. The target language sets the
// decoder's first or start token if the model expects it there. Throws ConfigError for a language that the model does
// not know.
GenerateOptions defaults_with_languages(const ModelParts& parts, const std::string& source_lang,
                                        const std::string& target_lang);

// An input in the form that the model reads.
struct Prompt {
  TokenIds source = {};                           // tokens for the encoder; empty for a decoder-only model
  std::size_t second_segment = kNoSecondSegment;  // as in Encoding, for `source`
  Tensor frames = {};          // frames for an encoder that reads audio, instead of `source`; see FrameOptions
  std::size_t frame_rows = 0;  // rows that the encoder makes of `frames`
  Tensor encoded = {};         // these rows, if they are known (see StreamingEncoder)
  TokenIds draft = {};         // a guess of the result, prefix included; empty for none
  TokenIds target = {};  // the decoder's first tokens: start token and prefix, or a decoder-only model's whole prompt
  std::size_t prefix_length = 0;  // tokens at the end of `target` that belong to the result
  std::size_t number = 0;         // number of the source for messages, from 1
  std::size_t source_tokens = 0;
  bool source_truncated = false;

  // Returns the number of rows that the encoder computes.
  std::size_t source_rows() const { return frames.empty() ? source.size() : frame_rows; }
};

// A given target, which the decoder reads instead of generating one (teacher forcing).
struct ForcedTarget {
  Prompt prompt;
  TokenIds target;         // may be empty
  TokenIds decoder_input;  // the prompt's target, then `target` without its last token
};

// A converter from inputs to prompts. Messages name a source by its number.
class Prompter {
 public:
  // Takes the languages and the start token from `settings`. Throws ConfigError if the model has an encoder but
  // `settings` has no start token. REQUIRES: `settings` outlives this object.
  Prompter(const ModelParts& parts, const GenerateOptions& settings);

  // Returns an empty Prompt for an empty source. Throws InputError for tokens outside the vocabulary and for too many
  // tokens.
  Prompt prompt(const GenerateInput& input, std::size_t number) const;
  // Makes a prompt with a given target. Throws InputError as prompt(), for the target only.
  // REQUIRES: the caller has checked `source`.
  ForcedTarget force(const TokenIds& source, const TokenIds& target, std::size_t number) const;

 private:
  Prompt start(const TokenIds& source, std::size_t number) const;
  Prompt sound_prompt(const Tensor& frames, const TokenIds& prefix, std::size_t number) const;
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

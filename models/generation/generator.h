#pragma once

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/session_pool.h"
#include "encdec/models/tokenizer/tokenizer.h"

namespace encdec {

// Generates for all inputs of a stream: from options to settings, from texts to prompts, and back.
class Generator {
 public:
  // What of a model it needs; all must outlive it.
  struct Parts {
    const Transformer& network;
    const GenerationConfig& defaults;
    const Tokenizer* tokenizer;  // null where there is none
    const std::string& origin;   // of the model, for messages
    SessionPool& sessions;
  };

  // Throws ConfigError for options that are out of range, or that this model does not support.
  Generator(const Parts& parts, const GenerateOptions& options);

  // Throws as Model::generate() does.
  void run(GenerateStream& stream) const;

 private:
  Parts parts_;
  const GenerateOptions& options_;
  GenerationConfig config_;
};

// Throws InputError, "source 3: ..." for what 'source' and number 3, unless a stack can read these tokens.
void check_tokens(std::span<const std::int32_t> tokens, const StackConfig& stack, std::string_view what,
                  std::size_t number);

// Throws TokenizerError if there is none.
const Tokenizer& tokenizer_of(const Generator::Parts& parts);

// The token that begins every target of a model with an encoder. Throws ConfigError if there is none.
std::int32_t decoder_start_token(const Generator::Parts& parts, const GenerationConfig& config);

// Languages that are asked for: what they mean for the decoder goes into `config`; what they mean for a source is the
// tokenizer's matter. Throws ConfigError for one that the model does not know.
void set_languages(const Generator::Parts& parts, const std::string& source_lang, const std::string& target_lang,
                   GenerationConfig& config);

}  // namespace encdec

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/config.h"
#include "encdec/models/tokenizer/tokenizer.h"

namespace encdec {

// How to generate, with the names and meanings of Hugging Face's GenerationConfig. Lengths count tokens; those of
// `length` count the prompt too, those of `new_tokens` do not. The prompt is the decoder start token, or what a
// decoder-only model is given.
struct GenerationConfig {
  int num_beams = 1;
  std::optional<int> max_length;
  std::optional<int> max_new_tokens;  // goes before max_length
  int min_length = 0;
  std::optional<int> min_new_tokens;                // goes before min_length
  float repetition_penalty = 1.0f;                  // 1 for none
  int no_repeat_ngram_size = 0;                     // 0 for none, like the next
  int encoder_no_repeat_ngram_size = 0;             // n-grams of the source
  std::vector<std::int32_t> eos_tokens;             // any of them ends a sequence
  std::optional<std::int32_t> decoder_start_token;  // models with an encoder need one
  std::optional<std::int32_t> forced_bos_token;
  std::vector<std::int32_t> forced_eos_tokens;
  std::vector<std::vector<std::int32_t>> bad_words;  // sequences of tokens that must not be produced

  // Most tokens that may be generated after a prompt of so many tokens, at least 1. Without any limit: 20, as in
  // transformers.
  int new_token_limit(std::size_t prompt_length = 1) const;

  // The token that must come next after a prompt and so many generated tokens: the first one after a start token, or an
  // end where the limit leaves room for just one more. Goes before every other rule.
  std::optional<std::int32_t> forced_token(std::size_t prompt_length, std::size_t generated) const;

  // Keys of the file that ask for what this version does not do, for a note to the user: "num_beams 4".
  std::vector<std::string> unsupported;
};

// The defaults of a checkpoint. `generation` is generation_config.json, or config.json where there is none: then and
// only then are the generation keys of config.json in force. Throws ConfigError, naming the file and the key.
GenerationConfig read_generation_config(const JsonObject& generation, const TransformerConfig& config);

// The same for a folder in any format: its generation_config.json, or config.json where there is none. Formats that
// have neither have tokens by name, which are looked up in `tokenizer` (null for none), and limits as long as
// CTranslate2's.
GenerationConfig read_generation_settings(const Checkpoint& checkpoint, const TransformerConfig& config,
                                          const Tokenizer* tokenizer);

}  // namespace encdec

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/added_tokens.h"

namespace encdec {

// What a checkpoint's files say about its tokenizer beside the vocabulary: tokenizer_config.json, and where that has no
// added_tokens_decoder also special_tokens_map.json, added_tokens.json and the added tokens of tokenizer.json. Read and
// merged as transformers 5 does for its tokenizers written in Python.
struct TokenizerSettings {
  // bos_token, eos_token, unk_token, sep_token, pad_token, cls_token, mask_token, as far as there are such tokens.
  std::map<std::string, std::string> named_tokens;
  // Those and all others that decoding leaves out; each once.
  std::vector<std::string> special_tokens;
  std::map<std::int32_t, AddedToken> added_tokens;

  bool separate_vocabularies = false;
  bool split_special_tokens = false;  // do not look for added tokens in the text
  bool clean_up_spaces = false;       // after decoding: no space before punctuation

  // `named_tokens`: what holds where the files do not say otherwise. No file has to be there. Throws FileError,
  // ConfigError or TokenizerError, naming the file, if one is damaged or asks for what is not supported.
  static TokenizerSettings read(const std::filesystem::path& folder, std::map<std::string, std::string> named_tokens);
};

}  // namespace encdec

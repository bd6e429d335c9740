#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/base/added_token.h"

namespace encdec {

// What a tokenizer's files may hold: more is a mistake.
inline constexpr std::size_t kMaxTokenizerJsonBytes = 64u << 20;  // of large vocabularies: some 30 MB
inline constexpr int kMostSentinels = 10'000;                     // <extra_id_0> and so on

// Whether the folder has all of the files. Throws TokenizerError if it has only some; of no files, it has all.
bool has_files(const std::filesystem::path& folder, const std::vector<const char*>& files);

// A token as files of tokenizers describe it. Throws ConfigError or TokenizerError if it is not one, or is too long.
AddedToken read_added_token(const JsonObject& token);

// The files that say something about a tokenizer beside its vocabulary; those that are not there are empty objects.
struct TokenizerFiles {
  static JsonObject none();

  JsonObject tokenizer_config = none();
  // Older ones, which count only where tokenizer_config has no added_tokens_decoder.
  JsonObject special_tokens_map = none();
  JsonObject added_tokens = none();
  std::optional<JsonObject> tokenizer = {};  // only the list of added tokens

  // Throws FileError, naming the file, if one is not JSON. Does not read older files that do not count.
  static TokenizerFiles read(const std::filesystem::path& folder);
  // All but tokenizer.json.
  static TokenizerFiles read_small(const std::filesystem::path& folder);

  // Older files, and the list in tokenizer.json, do not count then.
  bool has_added_tokens_decoder() const;
};

// What those files say, merged as transformers 5 does for its tokenizers written in Python.
struct TokenizerSettings {
  // bos_token, eos_token, unk_token, sep_token, pad_token, cls_token, mask_token, as far as there are such tokens.
  std::map<std::string, std::string> named_tokens;
  // Those and all others that decoding leaves out; each once.
  std::vector<std::string> special_tokens;
  std::map<std::int32_t, AddedToken> added_tokens;
  // Those of special_tokens that have no name; absent if the files have no such list, empty if it is null.
  std::optional<std::vector<std::string>> extra_tokens;
  // Special tokens that were not given as mere text, by content.
  std::map<std::string, AddedToken, std::less<>> described_tokens;

  std::optional<std::string> source_language;  // src_lang and tgt_lang
  std::optional<std::string> target_language;

  bool separate_vocabularies = false;
  bool split_special_tokens = false;  // do not look for added tokens in the text
  bool clean_up_spaces = false;       // after decoding: no space before punctuation

  // What the files say of the token with this content, or else `plain`.
  AddedToken described(const AddedToken& plain) const;

  // `named_tokens`: what holds where the files do not say otherwise. Throws ConfigError or TokenizerError, naming the
  // file, if a value has the wrong type or asks for what is not supported.
  static TokenizerSettings merge(const TokenizerFiles& files, std::map<std::string, std::string> named_tokens);
};

}  // namespace encdec

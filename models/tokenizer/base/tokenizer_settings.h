#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// Upper bounds; a file with a larger value is assumed to be damaged.
inline constexpr std::size_t kMaxTokenizerJsonBytes = 64u << 20;  // large vocabularies need about 30 MB
inline constexpr int kMaxSentinels = 10'000;                      // <extra_id_0>, <extra_id_1>, ...

// Returns true if the folder has all of `files`, or if `files` is empty; false if the folder has none of them. Throws
// TokenizerError if the folder has only some of them.
bool has_files(const std::filesystem::path& folder, const std::vector<const char*>& files);

// A token that is matched in a text before the rest of the text is tokenized.
struct AddedToken {
  std::string content = {};
  bool strip_left = false;   // removes the whitespace before the token
  bool strip_right = false;  // removes the whitespace after the token
  bool single_word = false;  // matches only if no word touches the token
  // Whether to normalise the token and match it in the normalised text. Default: true for tokens that are not special.
  // Used only by pipelines.
  std::optional<bool> normalized = {};
  bool special = false;  // decoding skips the token

  bool is_normalized() const { return normalized.value_or(!special); }
};

// Reads a token's JSON description. Throws ConfigError or TokenizerError if the description is invalid or the token is
// too long.
AddedToken read_added_token(const JsonObject& token);

// The settings files of a tokenizer. A missing file is an empty object.
struct TokenizerFiles {
  static JsonObject none();

  JsonObject tokenizer_config = none();
  // Files of older versions; ignored if tokenizer_config has added_tokens_decoder.
  JsonObject special_tokens_map = none();
  JsonObject added_tokens = none();
  // Only the added tokens of tokenizer.json are used. Also ignored if tokenizer_config has added_tokens_decoder.
  std::optional<JsonObject> tokenizer = {};

  // Reads a folder's files, except those that would be ignored. Throws FileError, naming the file, if a file is not
  // JSON.
  static TokenizerFiles read(const std::filesystem::path& folder);
  // Like read(), but without tokenizer.json.
  static TokenizerFiles read_small(const std::filesystem::path& folder);

  bool has_added_tokens_decoder() const;
};

using NamedTokens = std::map<std::string, std::string>;  // token by name, such as "eos_token"

// The merged settings of a TokenizerFiles. Merges like transformers 5 for its tokenizers written in Python.
struct TokenizerSettings {
  // bos_token, eos_token, unk_token, sep_token, pad_token, cls_token and mask_token, if they exist.
  NamedTokens named_tokens;
  // All tokens that decoding skips, with or without a name, without duplicates.
  std::vector<std::string> special_tokens;
  std::map<std::int32_t, AddedToken> added_tokens;  // by id
  // The list of special tokens without names. Absent if the files have no such list; empty if the list is null.
  std::optional<std::vector<std::string>> extra_tokens;
  // The special tokens that the files describe with an object of options instead of a string; by content.
  std::map<std::string, AddedToken, std::less<>> described_tokens;

  std::optional<std::string> source_language;  // src_lang and tgt_lang
  std::optional<std::string> target_language;

  std::optional<TruncationSide> truncation_side;
  bool has_segments = true;  // whether the model reads token_type_ids (model_input_names)

  bool separate_vocabularies = false;
  bool split_special_tokens = false;  // do not match added tokens in a text
  bool clean_up_spaces = false;       // remove spaces before punctuation after decoding

  // Returns the entry of described_tokens with the content of `plain`, or `plain` if there is no such entry.
  AddedToken described(const AddedToken& plain) const;

  // Merges the files. `named_tokens` are defaults for named tokens. Throws ConfigError or TokenizerError, naming the
  // file, if a value has the wrong type or is not supported.
  static TokenizerSettings merge(const TokenizerFiles& files, NamedTokens named_tokens);
};

}  // namespace encdec

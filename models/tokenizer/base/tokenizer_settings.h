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

// Upper bounds for a tokenizer's files; a larger value is taken for damage.
inline constexpr std::size_t kMaxTokenizerJsonBytes = 64u << 20;  // large vocabularies need about 30 MB
inline constexpr int kMaxSentinels = 10'000;                      // <extra_id_0>, <extra_id_1>, ...

// Returns true if the folder has all of `files` (or `files` is empty), false if it has none. Throws TokenizerError if
// it has only some.
bool has_files(const std::filesystem::path& folder, const std::vector<const char*>& files);

// A token that is searched for in the text before the text is cut into pieces.
struct AddedToken {
  std::string content = {};
  bool strip_left = false;   // removes the whitespace before the token
  bool strip_right = false;  // removes the whitespace after the token
  bool single_word = false;  // matches only if no word touches the token
  // Whether the token is normalised and searched for in the normalised text. If absent, all but special tokens are.
  // Only for pipelines.
  std::optional<bool> normalized = {};
  bool special = false;  // left out by decoding

  bool is_normalized() const { return normalized.value_or(!special); }
};

// Reads a token from its JSON description. Throws ConfigError or TokenizerError if `token` does not describe a token or
// the token is too long.
AddedToken read_added_token(const JsonObject& token);

// The settings files of a tokenizer. A missing file is an empty object.
struct TokenizerFiles {
  static JsonObject none();

  JsonObject tokenizer_config = none();
  // Files of older versions; ignored if tokenizer_config has added_tokens_decoder.
  JsonObject special_tokens_map = none();
  JsonObject added_tokens = none();
  // tokenizer.json, of which only the list of added tokens is used. Ignored like the older files.
  std::optional<JsonObject> tokenizer = {};

  // Reads the files of a folder. Skips the files that would be ignored. Throws FileError, naming the file, if a file is
  // not JSON.
  static TokenizerFiles read(const std::filesystem::path& folder);
  // Reads all files but tokenizer.json.
  static TokenizerFiles read_small(const std::filesystem::path& folder);

  // Returns whether tokenizer_config has added_tokens_decoder. Then all other files are ignored.
  bool has_added_tokens_decoder() const;
};

using NamedTokens = std::map<std::string, std::string>;  // texts of tokens by their names, such as "eos_token"

// The settings in a TokenizerFiles, merged as transformers 5 does for its tokenizers written in Python.
struct TokenizerSettings {
  // bos_token, eos_token, unk_token, sep_token, pad_token, cls_token and mask_token, without those that do not exist.
  NamedTokens named_tokens;
  // All tokens that decoding leaves out, named or not; each once.
  std::vector<std::string> special_tokens;
  std::map<std::int32_t, AddedToken> added_tokens;
  // The special tokens in a list without names. Absent if the files have no such list, empty if the list is null.
  std::optional<std::vector<std::string>> extra_tokens;
  // The special tokens that the files give as an object with options, not as a plain string; by content.
  std::map<std::string, AddedToken, std::less<>> described_tokens;

  std::optional<std::string> source_language;  // src_lang and tgt_lang
  std::optional<std::string> target_language;

  std::optional<TruncationSide> truncation_side;
  bool has_segments = true;  // whether the model gets the segments of a pair: model_input_names has token_type_ids

  bool separate_vocabularies = false;
  bool split_special_tokens = false;  // do not search for added tokens in the text
  bool clean_up_spaces = false;       // after decoding, remove spaces before punctuation

  // Returns the entry of described_tokens with the content of `plain`, or `plain` if there is none.
  AddedToken described(const AddedToken& plain) const;

  // Merges the files. `named_tokens` are the defaults for named tokens that the files do not set. Throws ConfigError or
  // TokenizerError, naming the file, if a value has the wrong type or is not supported.
  static TokenizerSettings merge(const TokenizerFiles& files, NamedTokens named_tokens);
};

}  // namespace encdec

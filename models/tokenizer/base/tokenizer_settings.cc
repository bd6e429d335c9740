#include "encdec/models/tokenizer/base/tokenizer_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/base/vocabulary.h"

namespace encdec {
namespace {

using Json = nlohmann::json;

constexpr std::array kNames = {"bos_token", "eos_token", "unk_token", "sep_token",
                               "pad_token", "cls_token", "mask_token"};

// Returns whether `key` is the name of a named token.
bool is_standard(std::string_view key) {
  return std::find(kNames.begin(), kNames.end(), key) != kNames.end();
}

[[noreturn]] void fail(const JsonObject& file, std::string_view key, const Json& found, std::string_view expected) {
  refuse<TokenizerError>(file.file(), "'{}' is {}, expected {}", printable(key), found.type_name(), expected);
}

std::string checked_content(const JsonObject& file, std::string content) {
  if (content.size() > kMaxTokenBytes) {
    refuse<TokenizerError>(file.file(), "a token of {} bytes, expected at most {}", content.size(), kMaxTokenBytes);
  }
  return content;
}

// Merges the files in the same steps as transformers. The files define three kinds of special tokens: named tokens,
// with the names in kNames; "model" tokens, with other names; and "extra" tokens, without names.
class SettingsReader {
 public:
  explicit SettingsReader(TokenizerSettings& settings) : settings_(settings) {}

  void read(const TokenizerFiles& files) {
    read_config(files.tokenizer_config);
    if (files.has_added_tokens_decoder()) {
      read_added_tokens_decoder(files.tokenizer_config);
    } else {
      read_special_tokens_map(files.special_tokens_map);
      read_added_tokens(files.added_tokens);
      if (files.tokenizer) read_tokenizer_json(*files.tokenizer);
    }
    collect_special_tokens();
  }

 private:
  // Returns the value of `key`, which may be JSON null. Returns a null pointer if the key is missing.
  static const Json* find(const JsonObject& file, std::string_view key) {
    const auto found = file.value().find(key);
    return found != file.value().end() ? &*found : nullptr;
  }

  // Returns the content of the token that `value` describes, as a string or as an object with "__type": "AddedToken".
  // Returns nullopt for any other value.
  std::optional<std::string> as_token(const JsonObject& file, const Json& value) {
    if (value.is_string()) return checked_content(file, value.get<std::string>());
    const bool is_object = value.is_object() && value.contains("__type") && value["__type"] == "AddedToken";
    return is_object ? std::optional(describe(read_added_token({value, file.file()}))) : std::nullopt;
  }

  // Stores the token in described_tokens. Returns its content.
  std::string describe(AddedToken token) {
    const std::string content = token.content;
    settings_.described_tokens[content] = std::move(token);
    return content;
  }

  // If `value` is an object, stores it in described_tokens as a special token and returns its content. Returns other
  // values unchanged.
  Json as_text(const JsonObject& file, const Json& value) {
    if (!value.is_object()) return value;
    AddedToken token = read_added_token({value, file.file()});
    token.special = true;
    return describe(std::move(token));
  }

  std::string required_token(const JsonObject& file, std::string_view key, const Json& value) {
    if (const auto token = as_token(file, value)) return *token;
    fail(file, key, value, "a token");
  }

  void read_config(const JsonObject& config) {
    settings_.source_language = config.string("src_lang");
    settings_.target_language = config.string("tgt_lang");
    settings_.separate_vocabularies = config.boolean("separate_vocabs").value_or(false);
    if (const auto word = config.string("truncation_side")) {
      settings_.truncation_side = value_named<TruncationSide>(kTruncationSides, *word);
      if (!settings_.truncation_side) {
        refuse<ConfigError>(config.file(), "truncation_side '{}', expected right or left", printable(*word));
      }
    }
    // By default, a tokenizer has segments unless its class is TokenizersBackend, which belongs to no family.
    settings_.has_segments = config.string("tokenizer_class") != "TokenizersBackend";
    if (config.has("model_input_names")) {
      settings_.has_segments = std::ranges::count(config.strings("model_input_names"), "token_type_ids") > 0;
    }
    settings_.split_special_tokens = config.boolean("split_special_tokens").value_or(false);
    settings_.clean_up_spaces = config.boolean("clean_up_tokenization_spaces").value_or(false);
    if (const Json* options = find(config, "sp_model_kwargs"); options != nullptr && !options->empty()) {
      fail(config, "sp_model_kwargs", *options, "no options for sentencepiece");
    }
    // Every other key that ends with "_token" is a model token.
    for (const auto& [key, value] : config.value().items()) {
      if (is_standard(key)) {
        set_named(config, key, value);
      } else if (key.ends_with("_token")) {
        if (const auto token = as_token(config, value)) model_tokens_.push_back(*token);
      }
    }
    if (const Json* tokens = find(config, "model_specific_special_tokens")) add_model_tokens(config, *tokens);
    // additional_special_tokens is the older name of extra_special_tokens.
    const Json* extra = find(config, "extra_special_tokens");
    if (extra == nullptr || extra->empty()) {
      if (const Json* older = find(config, "additional_special_tokens")) extra = older;
    }
    if (extra != nullptr) set_extra(config, *extra);
  }

  // Reads an object of added tokens whose keys are ids, written as strings.
  void read_added_tokens_decoder(const JsonObject& config) {
    const Json& tokens = *find(config, "added_tokens_decoder");
    if (!tokens.is_object()) fail(config, "added_tokens_decoder", tokens, "an object");
    for (const auto& [key, value] : tokens.items()) {
      std::int32_t id = -1;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
      if (error != std::errc() || end != key.data() + key.size()) id = -1;
      add_token(config, key, id, read_added_token({value, config.file()}));
    }
  }

  // Reads special_tokens_map.json. Adds its extra_special_tokens to the extra tokens of tokenizer_config.json. Uses the
  // older key, additional_special_tokens, only if no earlier file has set extra tokens.
  void read_special_tokens_map(const JsonObject& map) {
    const bool has_extra = settings_.extra_tokens.has_value();
    for (const auto& [key, value] : map.value().items()) {
      if (key == "extra_special_tokens") {
        Json tokens = value;
        if (value.is_array()) {
          for (Json& token : tokens) token = as_text(map, token);
        }
        add_extra(map, tokens);
      } else if (key == "additional_special_tokens") {
        if (!has_extra && !map.value().contains("extra_special_tokens")) set_extra(map, value);
      } else if (is_standard(key)) {
        set_named(map, key, as_text(map, value));
      } else if (key.ends_with("_token") && (value.is_object() || value.is_string())) {
        model_tokens_.push_back(*as_token(map, as_text(map, value)));
      }
    }
  }

  // Reads added_tokens.json, an object of tokens and their ids.
  void read_added_tokens(const JsonObject& file) {
    for (const auto& [token, value] : file.value().items()) {
      const bool special = is_special(token);
      add_token(file, token, id_of(value),
                {.content = checked_content(file, token), .normalized = !special, .special = special});
    }
  }

  bool is_special(const std::string& token) const {
    const auto& extra = settings_.extra_tokens;
    const auto is_named = [&](const auto& entry) { return entry.second == token; };
    return std::any_of(settings_.named_tokens.begin(), settings_.named_tokens.end(), is_named) ||
           (extra && std::find(extra->begin(), extra->end(), token) != extra->end());
  }

  // Reads the added tokens of tokenizer.json. They replace earlier tokens with the same id.
  void read_tokenizer_json(const JsonObject& file) {
    const Json none;
    const Json* tokens = find(file, "added_tokens");
    if (tokens == nullptr || !tokens->is_array()) fail(file, "added_tokens", tokens ? *tokens : none, "a list");
    for (const Json& value : *tokens) {
      AddedToken token = read_added_token({value, file.file()});
      const std::string content = token.content;
      add_token(file, content, id_of(value.value("id", Json())), std::move(token));
    }
  }

  // Returns the id, or -1 if `value` is not a valid id.
  static std::int32_t id_of(const Json& value) {
    const bool is_id = value.is_number_unsigned() && value.get<std::uint64_t>() < std::uint64_t{kMaxTokenIds};
    return is_id ? value.get<std::int32_t>() : -1;
  }

  void add_token(const JsonObject& file, std::string_view key, std::int32_t id, AddedToken token) {
    if (id < 0 || id >= kMaxTokenIds) {
      refuse<TokenizerError>(file.file(), "'{}': invalid id of an added token, expected 0 to {}", printable(key),
                             kMaxTokenIds - 1);
    }
    settings_.added_tokens[id] = std::move(token);
  }

  // Sets the named token `key`, or removes it if `value` is null.
  void set_named(const JsonObject& file, const std::string& key, const Json& value) {
    if (value.is_null()) {
      settings_.named_tokens.erase(key);
    } else {
      settings_.named_tokens[key] = required_token(file, key, value);
    }
  }

  void set_extra(const JsonObject& file, const Json& value) {
    settings_.extra_tokens.emplace();
    add_extra(file, value);
  }

  // Appends a list of extra tokens. The tokens of an object have names, so adds them as model tokens.
  void add_extra(const JsonObject& file, const Json& value) {
    if (value.is_object()) return add_model_tokens(file, value);
    if (!settings_.extra_tokens) settings_.extra_tokens.emplace();
    if (value.is_null()) return;
    if (!value.is_array()) fail(file, "extra_special_tokens", value, "a list of tokens or an object of tokens");
    for (const Json& item : value) {
      settings_.extra_tokens->push_back(required_token(file, "extra_special_tokens", item));
    }
  }

  void add_model_tokens(const JsonObject& file, const Json& value) {
    if (!value.is_object()) fail(file, "model_specific_special_tokens", value, "an object of tokens");
    for (const auto& [key, item] : value.items()) model_tokens_.push_back(required_token(file, key, item));
  }

  // Lists all special tokens in the order of transformers: first the named, then the model, then the extra tokens.
  void collect_special_tokens() {
    std::set<std::string> seen;
    const auto add = [&](const std::string& token) {
      if (seen.insert(token).second) settings_.special_tokens.push_back(token);
    };
    for (const char* name : kNames) {
      const auto found = settings_.named_tokens.find(name);
      if (found != settings_.named_tokens.end()) add(found->second);
    }
    for (const std::string& token : model_tokens_) add(token);
    for (const std::string& token : settings_.extra_tokens.value_or(std::vector<std::string>())) add(token);
  }

  TokenizerSettings& settings_;
  std::vector<std::string> model_tokens_;
};

// Reads a file. Returns an empty object if the file does not exist.
JsonObject open(const std::filesystem::path& path) {
  return file_exists(path) ? read_json_object(path) : TokenizerFiles::none();
}

}  // namespace

AddedToken read_added_token(const JsonObject& token) {
  return {.content = checked_content(token, token.required_string("content")),
          .strip_left = token.boolean("lstrip").value_or(false),
          .strip_right = token.boolean("rstrip").value_or(false),
          .single_word = token.boolean("single_word").value_or(false),
          .normalized = token.boolean("normalized"),
          .special = token.boolean("special").value_or(false)};
}

bool has_files(const std::filesystem::path& folder, const std::vector<const char*>& files) {
  const auto is_missing = [&](const char* file) { return !file_exists(folder / file); };
  const auto missing = std::count_if(files.begin(), files.end(), is_missing);
  if (missing == 0 || missing == std::ssize(files)) return missing == 0;
  refuse<TokenizerError>(folder.string(), "no {}, expected {}", *std::find_if(files.begin(), files.end(), is_missing),
                         fmt::join(files, files.size() == 2 ? " and " : ", "));
}

JsonObject TokenizerFiles::none() {
  return {Json::object(), "tokenizer_config.json"};
}

TokenizerFiles TokenizerFiles::read(const std::filesystem::path& folder) {
  TokenizerFiles files = read_small(folder);
  const std::filesystem::path json = folder / "tokenizer.json";
  if (!files.has_added_tokens_decoder() && file_exists(json)) {
    files.tokenizer = read_json_object(json, kMaxTokenizerJsonBytes);
  }
  return files;
}

TokenizerFiles TokenizerFiles::read_small(const std::filesystem::path& folder) {
  TokenizerFiles files;
  files.tokenizer_config = open(folder / "tokenizer_config.json");
  if (files.has_added_tokens_decoder()) return files;
  files.special_tokens_map = open(folder / "special_tokens_map.json");
  files.added_tokens = open(folder / "added_tokens.json");
  return files;
}

bool TokenizerFiles::has_added_tokens_decoder() const {
  return tokenizer_config.value().contains("added_tokens_decoder");
}

AddedToken TokenizerSettings::described(const AddedToken& plain) const {
  return value_of(described_tokens, plain.content).value_or(plain);
}

TokenizerSettings TokenizerSettings::merge(const TokenizerFiles& files, NamedTokens named_tokens) {
  TokenizerSettings settings;
  settings.named_tokens = std::move(named_tokens);
  SettingsReader(settings).read(files);
  return settings;
}

}  // namespace encdec

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/pipeline/normalizer.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"
#include "encdec/models/tokenizer/affixes.h"
#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

namespace encdec {

// A value in a JSON file and the way to it, read with types. Everything throws TokenizerError, naming the file, the
// way, what was found and what was expected. The value must outlive it.
class JsonPart {
 public:
  JsonPart(const nlohmann::json& value, std::string file) : value_(&value), file_(std::move(file)) {}

  const nlohmann::json& value() const { return *value_; }
  // "tokenizer.json: normalizer.normalizers[1]"
  std::string where() const;

  // Null if the key is missing or null. This and what follows is for objects.
  const nlohmann::json* find(std::string_view key) const;
  JsonPart member(std::string_view key) const;  // which is there
  JsonPart object(std::string_view key) const;
  std::vector<JsonPart> list(std::string_view key) const;
  std::string string(std::string_view key) const;
  std::string character(std::string_view key) const;  // a string of one character
  std::uint64_t integer(std::string_view key, std::uint64_t most) const;
  bool boolean(std::string_view key) const;

  std::optional<std::string> optional_string(std::string_view key) const;
  std::optional<std::uint64_t> optional_integer(std::string_view key, std::uint64_t most) const;
  bool boolean_or(std::string_view key, bool otherwise) const;

  std::vector<JsonPart> items() const;  // of a list

  [[noreturn]] void fail(std::string_view found, std::string_view expected) const;
  [[noreturn]] void fail_kind(std::string_view found, std::string_view expected) const;

 private:
  JsonPart child(const nlohmann::json& value, std::string_view step) const;
  const nlohmann::json& required(std::string_view key, std::string_view expected) const;
  [[noreturn]] void fail_member(std::string_view key, std::string_view expected) const;

  const nlohmann::json* value_;
  std::string file_;
  std::string path_;
};

// The parts of a tokenizer.json, each with its "type".
Normalizer read_normalizer(const JsonPart& part);
PreTokenizer read_pre_tokenizer(const JsonPart& part);
Affixes read_post_processor(const JsonPart& part);
PieceDecoder read_decoder(const JsonPart& part);

}  // namespace encdec

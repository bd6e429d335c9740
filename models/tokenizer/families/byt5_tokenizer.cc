#include "encdec/models/tokenizer/families/byt5_tokenizer.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

constexpr std::int32_t kFirstByteId = 3;
constexpr std::int32_t kBytes = 256;

// A byte is written as the character of that number.
std::string byte_text(std::uint8_t byte) {
  std::string text;
  append_utf8(text, byte);
  return text;
}

Vocabulary byte_vocabulary(const std::string& name) {
  Vocabulary vocabulary;
  for (std::int32_t byte = 0; byte < kBytes; ++byte) {
    vocabulary.add(byte_text(static_cast<std::uint8_t>(byte)), byte + kFirstByteId, name);
  }
  return vocabulary;
}

TokenizerSettings byt5_settings(const TokenizerFiles& files) {
  auto settings =
      TokenizerSettings::merge(files, {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}});
  std::int32_t id = 0;
  for (const char* key : {"pad_token", "eos_token", "unk_token"}) {
    const auto token = settings.named_tokens.find(key);
    if (token == settings.named_tokens.end()) continue;
    const auto described = settings.described_tokens.find(token->second);
    const AddedToken plain{.content = token->second, .strip_left = true, .strip_right = true};
    settings.added_tokens.emplace(id++, described != settings.described_tokens.end() ? described->second : plain);
  }
  if (settings.extra_tokens && !settings.extra_tokens->empty()) return settings;
  const auto count =
      files.tokenizer_config ? files.tokenizer_config->integer("extra_ids", {0, kMostSentinels}) : std::nullopt;
  for (int i = 0; i < count.value_or(125); ++i) settings.special_tokens.push_back(fmt::format("<extra_id_{}>", i));
  return settings;
}

}  // namespace

std::unique_ptr<Tokenizer> ByT5Tokenizer::load(const std::filesystem::path& folder) {
  return std::make_unique<ByT5Tokenizer>(TokenizerFiles::read(folder), folder.string());
}

ByT5Tokenizer::ByT5Tokenizer(const TokenizerFiles& files, std::string name)
    : SlowTokenizer(byt5_settings(files), byte_vocabulary(name), name) {
  named_id("eos_token");
}

std::vector<std::string> ByT5Tokenizer::cut(std::string_view text, TextSide /*side*/) const {
  std::vector<std::string> pieces;
  pieces.reserve(text.size());
  for (const char byte : text) pieces.push_back(byte_text(static_cast<std::uint8_t>(byte)));
  return pieces;
}

std::string ByT5Tokenizer::join(const std::vector<std::string>& pieces) const {
  std::string bytes;
  for (const std::string& piece : pieces) {
    if (added_tokens().id(piece)) {
      bytes += piece;
    } else {
      bytes += static_cast<char>(static_cast<std::uint8_t>(first_character(piece).value));
    }
  }
  return replace_invalid_bytes(bytes, "");
}

Affixes ByT5Tokenizer::affixes(const EncodeOptions& options, TextSide /*side*/) const {
  refuse_languages(options);
  return {{}, {named_id("eos_token")}};
}

bool ByT5Tokenizer::ends_already(const std::vector<std::int32_t>& ids) const {
  return !ids.empty() && ids.back() == named_id("eos_token");
}

}  // namespace encdec

#include <fmt/format.h>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/families/slow_families.h"
#include "encdec/models/tokenizer/families/slow_tokenizer.h"

namespace encdec {
namespace {

constexpr std::int32_t kFirstByteId = 3;

// Returns the piece of a byte: the character whose code point is the byte.
std::string byte_text(char byte) {
  std::string text;
  append_utf8(text, static_cast<std::uint8_t>(byte));
  return text;
}

Vocabulary byte_vocabulary(const std::string& name) {
  Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary.add(byte_text(static_cast<char>(byte)), byte + kFirstByteId, name);
  return vocabulary;
}

TokenizerSettings byt5_settings(const TokenizerFiles& files) {
  auto settings =
      TokenizerSettings::merge(files, {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}});
  std::int32_t id = 0;
  for (const char* key : {"pad_token", "eos_token", "unk_token"}) {
    const auto token = settings.named_tokens.find(key);
    if (token == settings.named_tokens.end()) continue;
    const AddedToken plain{.content = token->second, .strip_left = true, .strip_right = true};
    settings.added_tokens.emplace(id++, settings.described(plain));
  }
  if (settings.extra_tokens && !settings.extra_tokens->empty()) return settings;
  const auto count = files.tokenizer_config.integer("extra_ids", {0, kMaxSentinels}).value_or(125);
  for (int i = 0; i < count; ++i) settings.special_tokens.push_back(fmt::format("<extra_id_{}>", i));
  return settings;
}

class ByT5Tokenizer final : public SlowTokenizer {
 public:
  ByT5Tokenizer(const TokenizerFiles& files, const std::string& name)
      : SlowTokenizer(byt5_settings(files), byte_vocabulary(name), name) {
    named_id("eos_token");
  }

  std::string kind() const override { return "bytes"; }

 protected:
  void cut(std::string_view text, TextSide /*side*/, const PieceSink& take) const override {
    for (const char byte : text) take(byte_text(byte));
  }

  std::string join(const std::vector<std::string>& pieces) const override {
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

  Affixes affixes(const EncodeOptions& options, TextSide /*side*/) const override {
    refuse_languages(options, name());
    return {{}, {named_id("eos_token")}};
  }

  bool ends_already(const std::vector<std::int32_t>& ids) const override {
    return !ids.empty() && ids.back() == named_id("eos_token");
  }
};

}  // namespace

std::unique_ptr<Tokenizer> byt5_tokenizer(const TokenizerFiles& files, const std::string& name) {
  return std::make_unique<ByT5Tokenizer>(files, name);
}

}  // namespace encdec

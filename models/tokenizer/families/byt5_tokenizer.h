#pragma once

#include <memory>

#include "encdec/models/tokenizer/families/slow_tokenizer.h"

namespace encdec {

// ByT5's: every byte of UTF-8 is a piece, with the id byte + 3; <pad> </s> <unk> come before, sentinels after.
class ByT5Tokenizer final : public SlowTokenizer {
 public:
  // From the files of TokenizerFiles alone.
  static std::unique_ptr<Tokenizer> load(const std::filesystem::path& folder);

  // Throws TokenizerError, beginning with `name`, if there is no end token.
  ByT5Tokenizer(const TokenizerFiles& files, std::string name);

  std::string kind() const override { return "bytes"; }

 protected:
  std::vector<std::string> cut(std::string_view text, TextSide /*side*/) const override;
  std::string join(const std::vector<std::string>& pieces) const override;
  Affixes affixes(const EncodeOptions& options, TextSide side) const override;
  bool ends_already(const std::vector<std::int32_t>& ids) const override;
};

}  // namespace encdec

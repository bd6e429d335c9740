#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "encdec/models/tokenizer/families/slow_tokenizer.h"

namespace encdec {

// Blenderbot-small's: byte-pair encoding of lower-case words, in which "@@" ends every piece but a word's last, as
// subword-nmt writes it. Nothing is put around a text.
class BlenderbotSmallTokenizer final : public SlowTokenizer {
 public:
  struct Files {
    Vocabulary vocabulary;
    std::string merges;  // the content of merges.txt
    TokenizerFiles settings;
  };

  // From vocab.json, merges.txt and the files of TokenizerFiles.
  static std::unique_ptr<Tokenizer> load(const std::filesystem::path& folder);

  // Throws TokenizerError, beginning with `name`, if the vocabulary lacks the unknown token.
  BlenderbotSmallTokenizer(Files files, std::string name);

  std::string kind() const override { return "BPE"; }

 protected:
  std::vector<std::string> cut(std::string_view text, TextSide /*side*/) const override;
  std::optional<std::int32_t> find_id(std::string_view piece, TextSide /*side*/) const override;
  std::string join(const std::vector<std::string>& pieces) const override;
  Affixes affixes(const EncodeOptions& options, TextSide side) const override;

 private:
  using Ranks = std::unordered_map<std::string, std::size_t, StringHash, std::equal_to<>>;

  static Ranks read_ranks(const std::string& merges, const std::string& name);
  void cut_word(std::string_view word, std::vector<std::string>& pieces) const;

  Ranks ranks_;  // of "left right"
};

}  // namespace encdec

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// The two texts of a translation. A checkpoint may have a vocabulary for each.
enum class TextSide { source, target };

// Text to token ids and back, as a checkpoint's own tokenizer does it. Read-only: usable from many threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // The ids that the encoder gets for a source, special tokens included. `text` is UTF-8; throws TokenizerError, with
  // the byte offset, if it is not.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  // The ids that stand for a target, special tokens included.
  virtual std::vector<std::int32_t> encode_target(std::string_view text) const = 0;
  // The text that generated ids stand for; special tokens are left out. Throws InputError for an id that the target
  // vocabulary does not have.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  // What each id stands for, special tokens too, spelled as in the vocabulary. Throws InputError for an id that the
  // vocabulary of that side does not have.
  virtual std::vector<std::string> pieces(std::span<const std::int32_t> ids, TextSide side) const = 0;
};

// The tokenizer of a checkpoint folder, chosen by its files and by config.json's model_type; null if the folder has
// none. Throws TokenizerError or FileError, naming the file, if files are damaged or one of several is missing.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder, std::string_view model_type);

}  // namespace encdec

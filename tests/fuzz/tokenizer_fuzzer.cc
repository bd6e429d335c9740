// Encodes arbitrary text and decodes arbitrary ids with the tokenizer of a golden checkpoint.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/load_tokenizer.h"
#include "tests/fuzz/use_tokenizer.h"

namespace encdec {
namespace {

using Ids = std::vector<std::int32_t>;

const Tokenizer& tokenizer() {
  static const auto loaded =
      load_tokenizer(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "marian" / "text_separate" / "model", "marian");
  return *loaded;
}

void try_text(std::string_view text) {
  const auto invalid = find_invalid_utf8(text);
  try {
    for (const TextSide side : {TextSide::source, TextSide::target}) {
      const Ids ids = use_tokenizer(tokenizer(), text, side);
      require(!invalid, "text that is not UTF-8 is refused");
      require(!ids.empty() && ids.back() == 0, "the end token comes last");
    }
  } catch (const TokenizerError& error) {
    require(invalid.has_value(), "valid text is taken");
    require(std::string_view(error.what()).ends_with("at byte " + std::to_string(*invalid)),
            "a message has the offset");
  }
}

void try_ids(const Ids& ids) {
  try {
    require(!find_invalid_utf8(tokenizer().decode(ids)), "decoded text is UTF-8");
  } catch (const InputError& error) {
    require(std::string_view(error.what()).starts_with("token id "), "a message names the id");
  }
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  encdec::try_text(encdec::text_of(data, size));
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < size; ++i) ids.push_back(data[i]);
  encdec::try_ids(ids);
  return 0;
}

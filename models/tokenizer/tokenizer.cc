#include "encdec/models/tokenizer/tokenizer.h"

#include "encdec/engine/error.h"
#include "encdec/models/tokenizer/marian_tokenizer.h"

namespace encdec {

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder, std::string_view model_type) {
  try {
    if (model_type == "marian") return MarianTokenizer::load(folder);
  } catch (const ConfigError& error) {  // a value of the wrong type in one of the tokenizer's own files
    throw TokenizerError(error.what());
  }
  return nullptr;
}

}  // namespace encdec

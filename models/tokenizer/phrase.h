#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/tokenizer.h"

namespace encdec {

// Where in a target a phrase stands: many tokenizers spell a word after a space otherwise than at the beginning.
enum class PhrasePlace : std::uint8_t { at_start, after_space };

// The ids of a phrase as a part of a target: special tokens are left out. Throws as encode_target() does.
std::vector<std::int32_t> encode_phrase(const Tokenizer& tokenizer, std::string_view phrase, PhrasePlace place,
                                        const EncodeOptions& options = {});

}  // namespace encdec

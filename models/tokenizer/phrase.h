#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/tokenizer.h"

namespace encdec {

// The ids of a phrase that stands after a space within a target: many tokenizers spell it otherwise than the beginning
// of a text, which encode_target_part() gives. Throws as encode_target() does.
std::vector<std::int32_t> encode_after_space(const Tokenizer& tokenizer, std::string_view phrase,
                                             const EncodeOptions& options = {});

}  // namespace encdec

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "tests/fuzz/require.h"

namespace encdec {

// Encodes a text, and requires what holds for the ids of every tokenizer. Throws what the tokenizer throws.
inline std::vector<std::int32_t> use_tokenizer(const Tokenizer& tokenizer, std::string_view text, TextSide side,
                                               const EncodeOptions& options = {}) {
  const auto encode = [&] {
    return side == TextSide::source ? tokenizer.encode(text, options) : tokenizer.encode_target(text, options);
  };
  const std::vector<std::int32_t> ids = encode();
  require(encode() == ids, "a second time gives the same");
  require(tokenizer.pieces(ids, side).size() == ids.size(), "every id that comes out has a piece");
  require(!find_invalid_utf8(tokenizer.decode(ids)), "decoded text is UTF-8");
  return ids;
}

}  // namespace encdec

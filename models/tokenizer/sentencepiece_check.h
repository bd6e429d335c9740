#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace encdec {

inline constexpr std::size_t kMaxSentencePieceBytes = 32u << 20;  // models of 256,000 pieces: some 5 MB

// Refuses, with a TokenizerError that names the file, models on which libsentencepiece 0.1.97 would read out of bounds,
// run out of stack, or take memory out of all proportion. Checked is that
// - the protobuf fields are whole, down to the level of pieces and specs;
// - there are at most a million pieces, none empty, longer than 1024 bytes (the trie builder recurses once a byte),
//   not UTF-8 or with a NUL byte among others; scores are finite; at most 64 user-defined pieces begin each other (its
//   matcher's table on the stack);
// - in a normalisation table (precompiled_charsmap) every unit of the trie that text can reach, and every replacement,
//   lies inside; the trie has no cycle and at most 32 matches on one path (another table on the stack); replacements
//   are UTF-8 of at most 256 bytes.
// Everything else is left to libsentencepiece, which reports it.
void check_sentencepiece_model(std::string_view bytes, const std::string& name);

}  // namespace encdec

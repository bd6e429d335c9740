#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

enum class WordVectorFormat : std::uint8_t {
  automatic,        // by the content: see read_word_vectors
  word2vec_text,    // a line "V D", then V lines: the word and D numbers; fastText's .vec as well
  word2vec_binary,  // a line "V D", then V times: the word, a space, D little-endian floats, perhaps a newline
  glove,            // lines as in word2vec_text, without the first one
};

struct WordVectorOptions {
  WordVectorFormat format = WordVectorFormat::automatic;
  std::optional<std::int64_t> limit = {};  // only the first so many, from 1: files begin with the frequent words
};

// Words and their vectors, in the order of their file.
class WordVectors {
 public:
  // `words` are all different; `vectors` is float32 [V, D]. `duplicates`: see duplicates().
  WordVectors(std::vector<std::string> words, Tensor vectors, std::int64_t duplicates);
  WordVectors(WordVectors&&) = default;
  WordVectors& operator=(WordVectors&&) = default;

  // Bytes as the file has them, which need not be UTF-8.
  std::span<const std::string> words() const { return words_; }
  const Tensor& vectors() const { return vectors_; }
  // The row of a word.
  std::optional<std::int32_t> find(std::string_view word) const;
  // Entries that were left out because their word had been there before.
  std::int64_t duplicates() const { return duplicates_; }

  // The vectors as "weight", for an Embedding: Embedding(vectors.scope(), {.vocabulary = V, .model_dim = D}).
  WeightScope scope() const;

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string_view, std::int32_t> rows_;  // of words_, whose strings stay where they are
  Tensor vectors_;
  std::int64_t duplicates_;
};

// Reads pretrained word vectors. Automatically, a first line of two whole numbers and nothing else means word2vec,
// where text is told from binary by the first entry, and anything else means GloVe: of one-dimensional vectors without
// a header whose first word is a number, say the format.
//
// A line's vector is its last D numbers and its word all that stands before them, spaces included: GloVe's files have
// such words. Without a header, D is how many tokens the first line has behind its first space. So that a wrong D does
// not make words of numbers, the first line behind a header, and without one the second, may not have more than D: a
// word of several tokens that ends with a number is taken from later lines only. A UTF-8 byte order mark is skipped.
// Lines may end with spaces, a carriage return, or both. Numbers are decimal, whatever the locale, and become the
// nearest float32, be it zero. Where a word occurs again the first entry counts. Refused are empty words, values that
// are not finite, and headers that do not tell the number of entries.
//
// Throws FileError: which file, which line or word (from 1), what was found, what was expected; InputError for a limit
// below 1.
WordVectors read_word_vectors(const std::filesystem::path& path, const WordVectorOptions& options = {});

// The same for a file that is given as its bytes.
WordVectors parse_word_vectors(const FileBytes& file, const WordVectorOptions& options = {});

}  // namespace encdec

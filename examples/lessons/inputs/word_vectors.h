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

namespace lessons {
using namespace encdec;

enum class WordVectorFormat : std::uint8_t {
  automatic,        // detected from the content: see read_word_vectors()
  word2vec_text,    // a line "V D", then V lines of a word and D numbers; also fastText's .vec
  word2vec_binary,  // a line "V D", then V times: a word, a space, D little-endian floats, optionally a newline
  glove,            // as word2vec_text, without the first line
};

struct WordVectorOptions {
  WordVectorFormat format = WordVectorFormat::automatic;
  // Maximum number of words to read, at least 1. Files begin with the frequent words.
  std::optional<std::int64_t> limit = {};
};

// Words and their vectors, in the order of the file.
class WordVectors {
 public:
  // REQUIRES: `words` are all different; `vectors` is float32 [V, D].
  WordVectors(std::vector<std::string> words, Tensor vectors, std::int64_t duplicates);
  WordVectors(WordVectors&&) = default;
  WordVectors& operator=(WordVectors&&) = default;

  // Returns the words. They have the bytes of the file, which need not be UTF-8.
  std::span<const std::string> words() const { return words_; }
  const Tensor& vectors() const { return vectors_; }
  // Returns the row of a word; nullopt if the word is unknown.
  std::optional<std::int32_t> find(std::string_view word) const;
  // Returns the number of entries that were dropped because their word occurred before.
  std::int64_t duplicates() const { return duplicates_; }

  // Returns the vectors as "weight", for an Embedding: Embedding(vectors.scope(), {.vocabulary = V, .model_dim = D}).
  WeightScope scope() const;

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string_view, std::int32_t> rows_;  // keys are views of `words_`, whose strings never move
  Tensor vectors_;
  std::int64_t duplicates_;
};

// Reads pretrained word vectors.
//
// Format `automatic`: a first line of exactly two whole numbers means word2vec; then the first entry decides between
// text and binary. Any other first line means GloVe. A GloVe file of one-dimensional vectors whose first word is a
// number looks like word2vec: state its format.
//
// A line's vector is its last D numbers. The word is everything before them, including spaces, which occur in words of
// GloVe's files. Without a header, D is the number of tokens after the first space of the first line. If D is too
// small, numbers would become parts of words. So one line is checked: the first after a header, or the second without a
// header. It must not have more than D numbers at its end. In later lines a word of several tokens may end with a
// number.
//
// A UTF-8 byte order mark is skipped. Lines may end with spaces, a carriage return, or both. Numbers are decimal,
// whatever the locale, and are rounded to the nearest float32, possibly zero. If a word occurs again, its first entry
// counts. Refused are empty words, values that are not finite, and a header with another number of entries than the
// file has.
//
// Throws FileError naming the file and the line or word (from 1), with what was found and what was expected; InputError
// for a limit below 1.
WordVectors read_word_vectors(const std::filesystem::path& path, const WordVectorOptions& options = {});

// The same for the bytes of a file.
WordVectors parse_word_vectors(const FileBytes& file, const WordVectorOptions& options = {});

}  // namespace lessons

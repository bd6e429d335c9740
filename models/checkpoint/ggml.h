#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// The tokens of a ggml file.
struct GgmlVocabulary {
  std::int64_t size = 0;           // of the model's vocabulary, with those that the file does not write down
  std::vector<std::string> texts;  // bytes, perhaps of a part of a character, by id
};

// What a ggml file of whisper.cpp holds (models/convert-pt-to-ggml.py there): a whole model of Whisper.
struct GgmlModel {
  JsonObject sizes;  // see whisper_sizes
  std::int64_t text_tokens;
  std::shared_ptr<WeightStore> weights;
};

// Whether a file begins as ggml's do. Throws FileError if it cannot be read.
bool is_ggml(const std::filesystem::path& file);

// Reads a ggml file. Memory-mapped: tensors of floats are views of the file, at any address: unaligned. Blocks of
// quantised values are decoded to float16. Files that are truncated while they are in use end the process: see
// MappedFile. Tensors have the names of openai/whisper, and its shapes: ggml writes the last dimension first.
// "mel_filters" [n_mels, 201] are the bands of the spectrogram that the model was trained on.
//
// Throws FileError for sizes that no model has, counts and shapes that do not fit in the file, and names twice, and
// UnsupportedModelError for types of tensors that it does not read: which file, which tensor, what was found, what was
// expected.
GgmlModel read_ggml(const std::filesystem::path& file);
// Its vocabulary alone.
GgmlVocabulary read_ggml_vocabulary(const std::filesystem::path& file);

// The same for a file that is given as its bytes.
GgmlModel parse_ggml(const FileBytes& file);
GgmlVocabulary parse_ggml_vocabulary(const FileBytes& file);

}  // namespace encdec

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
  std::int64_t size = 0;           // size of the model's vocabulary, including tokens whose text is not in the file
  std::vector<std::string> texts;  // by id; bytes, which may be a part of a UTF-8 character
};

// The content of a ggml file of whisper.cpp (its models/convert-pt-to-ggml.py): a whole Whisper model.
struct GgmlModel {
  JsonObject sizes;  // see whisper_sizes()
  std::int64_t text_tokens;
  std::shared_ptr<WeightStore> weights;
};

// Returns whether a file begins as ggml files do. Throws FileError if it cannot be read.
bool is_ggml(const std::filesystem::path& file);

// Reads a ggml file. The file is memory-mapped. Tensors of floats are views of it, unaligned; blocks of quantised
// values are decoded to float16. Truncating the file while it is in use ends the process: see MappedFile.
//
// Tensors have the names and shapes of openai/whisper (ggml stores the last dimension first). "mel_filters" [n_mels,
// 201] are the spectrogram bands that the model was trained on.
//
// Throws FileError for sizes that no model has, counts and shapes that do not fit in the file, and a name that occurs
// twice; UnsupportedModelError for a tensor of an unsupported type. The message names the file and the tensor, with
// what was found and what was expected.
GgmlModel read_ggml(const std::filesystem::path& file);
// Reads only the vocabulary of a ggml file.
GgmlVocabulary read_ggml_vocabulary(const std::filesystem::path& file);

// The same for the bytes of a file.
GgmlModel parse_ggml(const FileBytes& file);
GgmlVocabulary parse_ggml_vocabulary(const FileBytes& file);

}  // namespace encdec

#pragma once

#include <stdexcept>
#include <string>

namespace encdec {

// Base of everything this library throws. A message says where, what was found and what was expected, on one line:
// "model.safetensors: tensor 'x': shape [2, 3], expected [2, 4]". The library never prints and never aborts.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Tensors or graph edges whose sizes do not fit together.
struct ShapeError : Error {
  using Error::Error;
};

// A checkpoint's tensor is missing, or has another shape or type than the configuration says.
struct WeightError : Error {
  using Error::Error;
};

// A file cannot be read or written, or is not what its format promises.
struct FileError : Error {
  using Error::Error;
};

// config.json, generation_config.json or options that contradict themselves or ask for what is not supported.
struct ConfigError : Error {
  using Error::Error;
};

// A checkpoint that is whole, as far as can be told, but of a kind that this version does not run.
struct UnsupportedModelError : ConfigError {
  using ConfigError::ConfigError;
};

// A tokenizer's files, or text that it cannot take.
struct TokenizerError : Error {
  using Error::Error;
};

// Data given by the caller that the model cannot take, such as a token id outside the vocabulary.
struct InputError : Error {
  using Error::Error;
};

// The system has no more of what is needed: threads.
struct ResourceError : Error {
  using Error::Error;
};

// The compute library underneath refused or failed.
struct BackendError : Error {
  using Error::Error;
};

}  // namespace encdec

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
class ShapeError : public Error {
 public:
  using Error::Error;
};

// A checkpoint's tensor is missing, or has another shape or type than the configuration says.
class WeightError : public Error {
 public:
  using Error::Error;
};

// A file cannot be read or written, or is not what its format promises.
class FileError : public Error {
 public:
  using Error::Error;
};

// config.json, generation_config.json or options that contradict themselves or ask for what is not supported.
class ConfigError : public Error {
 public:
  using Error::Error;
};

// A checkpoint that is whole, as far as can be told, but of a kind that this version does not run.
class UnsupportedModelError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

// A tokenizer's files, or text that it cannot take.
class TokenizerError : public Error {
 public:
  using Error::Error;
};

// Data given by the caller that the model cannot take, such as a token id outside the vocabulary.
class InputError : public Error {
 public:
  using Error::Error;
};

// The compute library underneath refused or failed.
class BackendError : public Error {
 public:
  using Error::Error;
};

}  // namespace encdec

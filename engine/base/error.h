#pragma once

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace encdec {

// Base class of everything that this library throws, except for std::bad_alloc. A message is one line that says where,
// what was found and what was expected: "model.safetensors: tensor 'x': shape [2, 3], expected [2, 4]". The library
// never prints and never aborts.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Sizes of tensors or graph edges do not fit together.
struct ShapeError : Error {
  using Error::Error;
};

// A checkpoint's tensor is missing, or its shape or type differs from the configuration.
struct WeightError : Error {
  using Error::Error;
};

// A file cannot be read or written, or does not follow its format.
struct FileError : Error {
  using Error::Error;
};

// config.json, generation_config.json or options contradict themselves or ask for something that is not supported.
struct ConfigError : Error {
  using Error::Error;
};

// A checkpoint is valid as far as checked, but this version does not support its kind of model.
struct UnsupportedModelError : ConfigError {
  using ConfigError::ConfigError;
};

// A tokenizer's files are not valid, or the tokenizer cannot process a text.
struct TokenizerError : Error {
  using Error::Error;
};

// The model cannot process the caller's data, such as a token id outside the vocabulary.
struct InputError : Error {
  using Error::Error;
};

// The system cannot start another thread.
struct ResourceError : Error {
  using Error::Error;
};

// The compute library refused a call or failed.
struct BackendError : Error {
  using Error::Error;
};

// There is no memory for a tensor. The message gives the size.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string message) : message_(std::make_shared<const std::string>(std::move(message))) {}
  const char* what() const noexcept override { return message_->c_str(); }

 private:
  std::shared_ptr<const std::string> message_;  // shared, so that copying does not throw
};

// Returns a message for users. Other classes than OutOfMemory have only a name in what().
inline const char* message_of(const std::bad_alloc& error) {
  return dynamic_cast<const OutOfMemory*>(&error) != nullptr ? error.what() : "out of memory";
}

}  // namespace encdec

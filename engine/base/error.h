#pragma once

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace encdec {

// Base class of all exceptions of this library except std::bad_alloc. The message is one line with
// the place, what was found and what was expected: "model.safetensors: tensor 'x': shape [2, 3],
// expected [2, 4]".
// The library never prints and never aborts.
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

// config.json, generation_config.json or the options are contradictory or not supported.
struct ConfigError : Error {
  using Error::Error;
};

// The checkpoint passed all checks so far, but its kind of model is not supported.
struct UnsupportedModelError : ConfigError {
  using ConfigError::ConfigError;
};

// The tokenizer's files are invalid, or it cannot process a text.
struct TokenizerError : Error {
  using Error::Error;
};

// The caller's data is invalid for the model, such as a token id outside the vocabulary.
struct InputError : Error {
  using Error::Error;
};

// The operating system cannot start another thread.
struct ResourceError : Error {
  using Error::Error;
};

// oneDNN failed or does not support the operation.
struct BackendError : Error {
  using Error::Error;
};

// A tensor could not be allocated. The message contains its size.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string message) : message_(std::make_shared<const std::string>(std::move(message))) {}
  const char* what() const noexcept override { return message_->c_str(); }

 private:
  std::shared_ptr<const std::string> message_;  // shared, so that copying does not throw
};

// Returns a message for users: for a plain std::bad_alloc, what() returns only the class name.
inline const char* message_of(const std::bad_alloc& error) {
  return dynamic_cast<const OutOfMemory*>(&error) != nullptr ? error.what() : "out of memory";
}

}  // namespace encdec

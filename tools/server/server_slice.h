#pragma once

#include <encdec/models/generation/generate_options.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

namespace encdec::serve {

class Metrics;
class ServedModel;
struct Route;
struct ServeSettings;

// An option of `encdec serve` that belongs to a slice. The slice keeps its value.
struct ServeOption {
  const char* name;  // "--max-recording-bytes"
  std::variant<std::string*, std::vector<std::string>*, std::size_t*> value;
  const char* help = nullptr;    // null: the number is fixed, and `encdec serve` refuses the option
  const char* type = "";         // placeholder of a text value in the help: "FILE"
  std::int64_t max = 1'000'000;  // upper bound of a number; the lower bound is 1
};

// A slice's part of one server. Order of calls: options check routes load add*. Then options() and the functions below
// add() are called on many threads.
class ServerSlice {
 public:
  using Json = nlohmann::ordered_json;
  virtual ~ServerSlice() = default;

  virtual std::vector<ServeOption> options() { return {}; }
  // Throws ConfigError if values of the slice's options conflict with the settings.
  virtual void check(const ServeSettings& /*settings*/) {}
  virtual std::vector<Route> routes() const = 0;
  // Loads files of the slice. Called before the models are loaded.
  virtual void load(const ServeSettings& /*settings*/) {}
  // Prepares for a loaded model. Called for models in the order of their numbers.
  virtual void add(const ServedModel& model, Metrics& metrics) = 0;

  // Returns the model's task, as error messages name it: "embeds texts". Empty if the slice does not use the model.
  virtual std::string task(const ServedModel& /*model*/) const { return {}; }
  // Translates a generation request's options, such as names of languages, to the model's. Throws HttpError, 400.
  virtual void adjust(const ServedModel& /*model*/, GenerateOptions& /*options*/) const {}
  // Adds members to the model's entry in /v1/models.
  virtual void describe(const ServedModel& /*model*/, Json& /*entry*/) const {}
  // Replaces "model_type" of /info.
  virtual void set_type(const ServedModel& /*model*/, Json& /*type*/) const {}
};

// Returns an instance of each slice of this build, in alphabetical order.
std::vector<std::shared_ptr<ServerSlice>> server_slices();

}  // namespace encdec::serve

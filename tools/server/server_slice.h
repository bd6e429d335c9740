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
  const char* help = nullptr;    // null: the number is fixed, and encdec serve refuses the option
  const char* type = "";         // name of a text in the help: "FILE"
  std::int64_t max = 1'000'000;  // upper bound of a number; the lower bound is 1
};

// A slice's part of one server.
// Order of calls: options check routes load add*, then all others and options(), on many threads.
class ServerSlice {
 public:
  using Json = nlohmann::ordered_json;
  virtual ~ServerSlice() = default;

  virtual std::vector<ServeOption> options() { return {}; }
  // Throws ConfigError for values of options that do not fit the settings.
  virtual void check(const ServeSettings& /*settings*/) {}
  virtual std::vector<Route> routes() const = 0;
  // Loads further files of the slice. Called before the models are loaded.
  virtual void load(const ServeSettings& /*settings*/) {}
  // Takes a model that is loaded. Models come in the order of their numbers.
  virtual void add(const ServedModel& model, Metrics& metrics) = 0;

  // Returns the model's work in the words of an error: "embeds texts". Empty if the work is no work of this slice.
  virtual std::string what_it_does(const ServedModel& /*model*/) const { return {}; }
  // Changes the options of a request for generation, as its client has given them, into those that the model knows.
  // Throws HttpError, 400.
  virtual void adjust(const ServedModel& /*model*/, GenerateOptions& /*options*/) const {}
  // Adds members to the entry of a model in /v1/models.
  virtual void describe(const ServedModel& /*model*/, Json& /*entry*/) const {}
  // Replaces "model_type" of /info.
  virtual void set_type(const ServedModel& /*model*/, Json& /*type*/) const {}
};

// Returns an object for each slice of this build, in alphabetical order.
std::vector<std::shared_ptr<ServerSlice>> server_slices();

}  // namespace encdec::serve

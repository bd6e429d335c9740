#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace encdec {

// For readers of JSON that do not need the whole text as values: called for one token after another. The functions
// return true to go on, and throw to stop. Errors of the text itself are thrown from here, as FileError.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonEvents(std::string file) : file_(std::move(file)) {}
  bool binary(binary_t& value) final;
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error) final;

  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

// Sends the tokens of `text` to `events`. Refuses what parse_json refuses, but for double keys and depth: those are the
// receiver's to check.
void read_json_events(std::string_view text, JsonEvents& events);

}  // namespace encdec

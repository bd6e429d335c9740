#pragma once

#include <encdec/models/generation/option_row.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/call.h"
#include "server/http/form.h"

namespace encdec::serve {

// Returns the first bytes of a value, short enough to be quoted in an error message.
std::string_view shown(std::string_view value);

// The parameters of a request: a JSON object, a form, a multipart form or a query. Each function throws HttpError,
// 400, if the value is invalid.
class Parameters {
 public:
  explicit Parameters(const Call& call);
  explicit Parameters(JsonObject json) : json_(std::move(json)) {}

  bool has(const std::string& name) const;
  std::string text(const std::string& name, const std::string& otherwise = {}) const;
  // Returns a text of at most 64 KiB. Throws if it is longer.
  std::string short_text(const std::string& name) const;
  // Returns the texts; no texts if the parameter is missing. Sets `is_list` to whether the client sent a list.
  std::vector<std::string> texts(const std::string& name, bool& is_list) const;
  // Return nullopt if the parameter is missing or empty: forms send empty texts for empty fields.
  std::optional<int> integer(const std::string& name, int min, int max) const;
  std::optional<double> real(const std::string& name, const OptionRange& range) const;
  bool flag(const std::string& name, bool otherwise) const;
  // Splits texts at commas: {"a", "b"} for "a,b".
  std::vector<std::string> words(const std::string& name) const;
  // Returns a JSON object, which a form contains as text; nullopt if the value is anything else.
  std::optional<JsonObject> object(const std::string& name) const;
  // Returns a file of a multipart form; null if there is none.
  const FormPart* file(const std::string& name) const;
  // Removes a file of a multipart form and returns its content; nullopt if there is none.
  std::optional<std::string> take_file(const std::string& name);
  bool is_form() const { return !json_; }

 private:
  std::optional<JsonObject> json_;
  Fields form_;
  std::vector<FormPart> files_;
};

}  // namespace encdec::serve

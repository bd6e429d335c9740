#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/call.h"
#include "serve/http/form.h"

namespace encdec::serve {

// Returns the beginning of a value, short enough to be quoted in an error message.
std::string_view shown(std::string_view value);

// The parameters of a request: a JSON object, a form, a multipart form or a query. Each function throws HttpError, 400,
// if a value is not as expected.
class Parameters {
 public:
  explicit Parameters(const Call& call);

  bool has(const std::string& name) const;
  std::string text(const std::string& name, const std::string& otherwise = {}) const;
  // Returns a text or a list of texts, and sets `is_list` to say which one the client has sent. Empty if missing.
  std::vector<std::string> texts(const std::string& name, bool& is_list) const;
  int number(const std::string& name, int otherwise, int min, int max) const;
  // Returns nullopt if the number is missing or empty: clients send an empty value for a field that the user left
  // empty.
  std::optional<double> real(const std::string& name, double min, double max) const;
  bool flag(const std::string& name, bool otherwise) const;
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

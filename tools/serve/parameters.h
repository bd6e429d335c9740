#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/call.h"
#include "serve/http/form.h"

namespace encdec::serve {

// As much of a value as a message has room for.
std::string_view shown(std::string_view value);

// The parameters of a request, whichever way they came: a JSON object, a form, a multipart form or a query. Every
// function throws HttpError, 400, naming what is wrong.
class Parameters {
 public:
  explicit Parameters(const Call& call);

  bool has(const std::string& name) const;
  std::string text(const std::string& name, const std::string& otherwise = {}) const;
  // One text or a list of them; `is_list` tells which. Empty if it is missing.
  std::vector<std::string> texts(const std::string& name, bool& is_list) const;
  int number(const std::string& name, int otherwise, int min, int max) const;
  // Nothing where it is missing or empty, as clients send what their users left out.
  std::optional<double> real(const std::string& name, double min, double max) const;
  bool flag(const std::string& name, bool otherwise) const;
  // A file of a multipart form; null if there is none.
  const FormPart* file(const std::string& name) const;
  // The same, and it is here no more.
  std::optional<std::string> take_file(const std::string& name);
  bool is_form() const { return !json_; }

 private:
  std::optional<JsonObject> json_;
  Fields form_;
  std::vector<FormPart> files_;
};

}  // namespace encdec::serve

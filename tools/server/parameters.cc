#include "server/parameters.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/tokenizer/base/utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/parse_number.h"

namespace encdec::serve {
namespace {

// Calls `read`, which reads from a JsonObject. Rethrows errors of `read` as HttpError, 400.
template <class Read>
auto read_json_value(const Read& read) {
  try {
    return read();
  } catch (const ConfigError& error) {
    throw HttpError(400, error.what());
  } catch (const FileError& error) {
    throw HttpError(400, error.what());
  }
}

}  // namespace

std::string_view shown(std::string_view value) {
  constexpr std::size_t kLongest = 64;
  return value.substr(0, kLongest);
}

Parameters::Parameters(const Call& call) {
  const HttpRequest& request = call.request();
  const std::string_view content_type = request.headers["content-type"];
  const std::string type = media_type(content_type);
  const bool is_in_query = request.method == "GET" || request.method == "HEAD";
  if (type == "multipart/form-data") {
    for (FormPart& part : parse_multipart(request.body, content_type)) {
      if (part.file_name.empty()) {
        form_.add(part.name, part.content);
      } else {
        files_.push_back(std::move(part));
      }
    }
  } else if ((is_in_query || type == "application/x-www-form-urlencoded") &&
             !request.body.starts_with('{')) {  // curl -d sends JSON with the type of a form
    form_ = parse_form(request.body);
    for (const auto& [name, value] : request.query) form_.add(name, value);
  } else {
    json_ = call.json();
  }
}

bool Parameters::has(const std::string& name) const {
  return json_ ? json_->has(name) : form_.find(name) != nullptr;
}

std::string Parameters::text(const std::string& name, const std::string& otherwise) const {
  if (json_) return read_json_value([&] { return json_->string(name); }).value_or(otherwise);
  const std::string* value = form_.find(name);
  return value != nullptr ? *value : otherwise;
}

std::string Parameters::short_text(const std::string& name) const {
  constexpr std::size_t kMaxBytes = 64 << 10;
  std::string value = text(name);
  if (value.size() <= kMaxBytes) return value;
  throw HttpError(400, fmt::format("'{}' has {} bytes, expected at most {}", name, value.size(), kMaxBytes));
}

std::vector<std::string> Parameters::texts(const std::string& name, bool& is_list) const {
  if (json_) {
    is_list = json_->has(name) && json_->value().at(name).is_array();
    return read_json_value([&] { return json_->strings(name); });
  }
  std::vector<std::string> values;
  for (const auto& [key, value] : form_) {
    if (key == name) values.push_back(value);
  }
  is_list = values.size() > 1;
  return values;
}

std::vector<std::string> Parameters::words(const std::string& name) const {
  bool is_list = false;
  std::vector<std::string> words;
  for (const std::string& text : texts(name, is_list)) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      if (end > begin) words.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return words;
}

std::optional<JsonObject> Parameters::object(const std::string& name) const {
  if (json_ && json_->has(name) && json_->value().at(name).is_object()) return json_->object(name);
  const std::string value = json_ ? std::string() : text(name);
  if (!value.starts_with('{')) return std::nullopt;
  return read_json_value([&] { return JsonObject(parse_json(value, fmt::format("'{}'", name)), name); });
}

std::optional<int> Parameters::integer(const std::string& name, int min, int max) const {
  if (json_ && json_->has(name) && !json_->value().at(name).is_string()) {
    return static_cast<int>(*read_json_value([&] { return json_->integer(name, {.min = min, .max = max}); }));
  }
  const std::string value = text(name);
  if (value.empty()) return std::nullopt;
  const auto number = cli::parse_number<int>(value);
  if (!number || *number < min || *number > max) {
    throw HttpError(400, fmt::format("'{}' is '{}', expected an integer from {} to {}", name, shown(value), min, max));
  }
  return number;
}

std::optional<double> Parameters::real(const std::string& name, const OptionRange& range) const {
  if (json_ && json_->has(name) && !json_->value().at(name).is_string()) {
    return read_json_value([&] {
      const auto number = json_->number(name);
      if (number) range.check(name, *number);
      return number;
    });
  }
  const std::string value = text(name);
  if (value.empty()) return std::nullopt;
  const auto number = cli::parse_number<double>(value);
  if (!number || !range.has(*number)) {
    throw HttpError(400, fmt::format("'{}' is '{}', expected {}", name, shown(value), range.expected()));
  }
  return number;
}

bool Parameters::flag(const std::string& name, bool otherwise) const {
  if (json_ && json_->has(name) && !json_->value().at(name).is_string()) {
    return *read_json_value([&] { return json_->boolean(name); });
  }
  const std::string value = lower_case(text(name));
  if (value.empty()) return otherwise;
  if (value == "true" || value == "1" || value == "yes" || value == "on") return true;
  if (value == "false" || value == "0" || value == "no" || value == "off") return false;
  throw HttpError(400, fmt::format("'{}' is '{}', expected true or false", name, shown(value)));
}

std::optional<std::string> Parameters::take_file(const std::string& name) {
  const auto found = std::ranges::find(files_, name, &FormPart::name);
  if (found == files_.end()) return std::nullopt;
  std::string content = std::move(found->content);
  files_.erase(found);
  return content;
}

const FormPart* Parameters::file(const std::string& name) const {
  const auto found = std::ranges::find(files_, name, &FormPart::name);
  return found != files_.end() ? &*found : nullptr;
}

}  // namespace encdec::serve

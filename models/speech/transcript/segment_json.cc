#include "encdec/models/speech/transcript/segment_json.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

using Json = nlohmann::ordered_json;

template <class Fields, class Owner>
Json object_of(const Fields& fields, const Owner& owner);

template <class Value>
Json json_of(const Value& value) {
  return value;
}

Json json_of(const std::string& text) {
  return replace_invalid_utf8(text);
}

Json json_of(const std::vector<TranscriptWord>& words) {
  Json list = Json::array();
  for (const TranscriptWord& word : words) list.push_back(object_of(kWordFields, word));
  return list;
}

template <class Fields, class Owner>
Json object_of(const Fields& fields, const Owner& owner) {
  Json object = Json::object();
  for_each_field(fields, [&](const auto& field) { object[field.name] = json_of(owner.*field.member); });
  return object;
}

// Returns the shortest digits that parse as the same number, as Python writes them: 1.0, 1e-05, 1e+16.
std::string python_number(double value) {
  if (!std::isfinite(value)) return "null";
  const double size = std::abs(value);
  const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char digits[32];
  const auto result = std::to_chars(std::begin(digits), std::end(digits), value,
                                    is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(std::begin(digits), result.ptr);
  if (is_plain && text.find('.') == text.npos) text += ".0";
  return text;
}

}  // namespace

Json segment_json(const TranscriptSegment& segment, SegmentWords words) {
  Json json = object_of(kSegmentFields, segment);
  if (words == SegmentWords::none) json.erase("words");
  return json;
}

std::string python_text(const Json& json) {
  if (json.is_number_float()) return python_number(json.get<double>());
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text.append(Json(key).dump()).append(": ");
    text += python_text(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace encdec

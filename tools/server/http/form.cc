#include "server/http/form.h"

#include <encdec/models/tokenizer/base/utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace encdec::serve {
namespace {

// Returns the text without the spaces and tabs at its ends.
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Removes the beginning of `text` through the first `end`. Returns the removed text without `end`. If `end` does not
// occur, removes and returns all of `text`.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t position = text.find(end);
  const std::string_view taken = text.substr(0, position);
  text.remove_prefix(position == std::string_view::npos ? text.size() : position + end.size());
  return taken;
}

std::string form_decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decoded(spaced);
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

Fields parse_form(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    std::string_view pair = take_until(text, "&");
    if (pair.empty()) continue;
    if (fields.size() == kMaxFormFields) {
      throw HttpError(400, fmt::format("a form of more than {} fields", kMaxFormFields));
    }
    const std::string_view name = take_until(pair, "=");
    fields.add(form_decoded(name), form_decoded(pair));
  }
  return fields;
}

std::string media_type(std::string_view content_type) {
  return lower_case(trimmed(take_until(content_type, ";")));
}

std::string parameter_of(std::string_view header, std::string_view name) {
  take_until(header, ";");
  while (!header.empty()) {
    const std::size_t end = std::min(header.find_first_of(";="), header.size());
    const std::string key = lower_case(trimmed(header.substr(0, end)));
    const bool has_value = header.substr(end).starts_with('=');
    header.remove_prefix(std::min(end + 1, header.size()));
    if (!has_value) continue;
    header.remove_prefix(std::min(header.find_first_not_of(" \t"), header.size()));
    std::string value;
    if (header.starts_with('"')) {
      header.remove_prefix(1);
      while (!header.empty() && header.front() != '"') {
        if (header.front() == '\\' && header.size() > 1) header.remove_prefix(1);
        value += header.front();
        header.remove_prefix(1);
      }
      take_until(header, ";");
    } else {
      value = trimmed(take_until(header, ";"));
    }
    if (key == name) return value;
  }
  return {};
}

std::vector<FormPart> parse_multipart(std::string_view body, std::string_view content_type) {
  const std::string boundary = parameter_of(content_type, "boundary");
  // A boundary has at most 70 bytes (RFC 2046, section 5.1.1).
  if (boundary.empty() || boundary.size() > 70) throw HttpError(400, "multipart: expected a boundary of 1 to 70 bytes");
  const std::string delimiter = "\r\n--" + boundary;
  // Skip the text before the first delimiter. A delimiter at the start of the body has no line end before it.
  if (body.starts_with(std::string_view(delimiter).substr(2))) {
    body.remove_prefix(delimiter.size() - 2);
  } else if (const std::size_t first = body.find(delimiter); first != std::string_view::npos) {
    body.remove_prefix(first + delimiter.size());
  } else {
    throw HttpError(400, "multipart: the boundary is not in the body");
  }
  std::vector<FormPart> parts;
  // `body` now begins after a delimiter. If "--" follows, that delimiter is the last.
  while (!body.starts_with("--")) {
    if (parts.size() == kMaxFormParts) {
      throw HttpError(400, fmt::format("multipart: more than {} parts", kMaxFormParts));
    }
    take_until(body, "\r\n");
    FormPart part;
    // Read the part's headers until an empty line.
    for (;;) {
      if (body.find("\r\n") == std::string_view::npos) throw HttpError(400, "multipart: the body ends within a part");
      std::string_view line = take_until(body, "\r\n");
      if (line.empty()) break;
      if (lower_case(trimmed(take_until(line, ":"))) != "content-disposition") continue;
      part.name = parameter_of(line, "name");
      part.file_name = parameter_of(line, "filename");
    }
    const std::size_t end = body.find(delimiter);
    if (end == std::string_view::npos) throw HttpError(400, "multipart: the body ends within a part");
    part.content = body.substr(0, end);
    body.remove_prefix(end + delimiter.size());
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace encdec::serve

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace encdec::serve {

// Returns "A/" for "%41%2f". Keeps a percent sign that two hexadecimal digits do not follow.
std::string percent_decoded(std::string_view text);

// Parses "a=1&b=x+y", the format of queries and of application/x-www-form-urlencoded bodies (WHATWG URL, section
// 5.1). Throws HttpError if there are more than kMaxFormFields fields: two bytes of text become 64 bytes of memory.
Fields parse_form(std::string_view text);
inline constexpr std::size_t kMaxFormFields = 10'000;

// A part of a multipart body.
struct FormPart {
  std::string name;
  std::string file_name;  // empty if the part is not a file
  std::string content;
};

// Parses a multipart/form-data body (RFC 7578). `content_type` contains the boundary. Throws HttpError if the body is
// malformed or has more than kMaxFormParts parts.
std::vector<FormPart> parse_multipart(std::string_view body, std::string_view content_type);
inline constexpr std::size_t kMaxFormParts = 1000;

// Returns "multipart/form-data" for "multipart/form-data; boundary=x".
std::string media_type(std::string_view content_type);
// Returns a header's parameter without quotes: "x" for "boundary" above. Empty if the parameter is missing.
std::string parameter_of(std::string_view header, std::string_view name);

}  // namespace encdec::serve

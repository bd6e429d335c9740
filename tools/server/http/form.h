#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace encdec::serve {

// Returns "A/" for "%41%2f". A percent sign without two digits after it is kept.
std::string percent_decoded(std::string_view text);

// Parses "a=1&b=x+y", the form of queries and of application/x-www-form-urlencoded bodies (WHATWG URL, section 5.1).
// Throws HttpError for more than kMaxFormFields fields: a field of two bytes takes 64 bytes of memory.
Fields parse_form(std::string_view text);
inline constexpr std::size_t kMaxFormFields = 10'000;

// A part of a multipart body.
struct FormPart {
  std::string name;
  std::string file_name;  // empty if the part is not a file
  std::string content;
};

// Parses a body of multipart/form-data (RFC 7578), whose Content-Type has the boundary. Throws HttpError if the body is
// malformed or has more than kMaxFormParts parts.
std::vector<FormPart> parse_multipart(std::string_view body, std::string_view content_type);
inline constexpr std::size_t kMaxFormParts = 1000;

// Returns "multipart/form-data" for "multipart/form-data; boundary=x".
std::string media_type(std::string_view content_type);
// Returns a parameter of a header, without quotes: "x" for the name "boundary" above. Empty if it is missing.
std::string parameter_of(std::string_view header, std::string_view name);

}  // namespace encdec::serve

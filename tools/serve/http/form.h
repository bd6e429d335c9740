#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/http/message.h"

namespace encdec::serve {

// Bytes of "%41%2f": "A/". A percent sign without two digits stands for itself.
std::string percent_decoded(std::string_view text);

// "a=1&b=x+y", as in queries and bodies of application/x-www-form-urlencoded (WHATWG URL, section 5.1). Throws
// HttpError for more than kMaxFormFields: a field of two bytes takes 64 bytes of memory.
Fields parse_form(std::string_view text);
inline constexpr std::size_t kMaxFormFields = 10'000;

// A part of a multipart body.
struct FormPart {
  std::string name;
  std::string file_name;  // empty where it is no file
  std::string content;
};

// A body of multipart/form-data (RFC 7578) with this Content-Type. Throws HttpError for what is none, and for more
// parts than that.
std::vector<FormPart> parse_multipart(std::string_view body, std::string_view content_type);
inline constexpr std::size_t kMaxFormParts = 1000;

// Of "multipart/form-data; boundary=x", the type: "multipart/form-data"; and a parameter, without quotes.
std::string media_type(std::string_view content_type);
std::string parameter_of(std::string_view header, std::string_view name);

}  // namespace encdec::serve

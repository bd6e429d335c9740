// Parses arbitrary bytes as encdec serve parses forms. The first line is the Content-Type, the rest is the body.
#include <cstdint>
#include <string_view>

#include "server/http/form.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  const std::string_view type = text.substr(0, line);
  const std::string_view body = line == std::string_view::npos ? std::string_view() : text.substr(line + 1);
  std::size_t bytes = 0;
  require(serve::media_type(type).size() <= type.size(), "a type is a part of the header");
  require(serve::parameter_of(type, "charset").size() <= type.size(), "so is a parameter");
  try {
    for (const auto& [name, value] : serve::parse_form(body)) bytes += name.size() + value.size();
    require(bytes <= body.size(), "a form does not grow");
    bytes = 0;
    for (const serve::FormPart& part : serve::parse_multipart(body, type)) {
      bytes += part.name.size() + part.file_name.size() + part.content.size();
    }
    require(bytes <= body.size(), "parts lie in the body");
  } catch (const serve::HttpError& error) {
    require(error.status() == 400, "a bad form is the client's fault");
  }
  return 0;
}

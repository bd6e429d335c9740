#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "serve/call.h"

namespace encdec::serve {

// A way that a protocol tells an error.
using ErrorForm = HttpResponse (*)(const HttpError& error, const HttpRequest& request);

// One address, and who answers there.
struct Route {
  std::string_view method;
  std::string_view path;  // "/models/*/pipeline/*": an asterisk is any word
  asio::awaitable<void> (*handle)(Call& call);
  ErrorForm error;

  // Where a client says its key; a header always may have it.
  enum class Key : std::uint8_t {
    in_header,
    in_body,  // as api_key
    none,     // whoever asks
  };
  Key key = Key::in_header;

  // What its body may have, which limits its size.
  enum class Body : std::uint8_t { text, recording };
  Body body = Body::text;
};

// Those of each protocol, in the file of its name.
std::span<const Route> libretranslate_routes();
std::span<const Route> openai_routes();
std::span<const Route> openai_audio_routes();
std::span<const Route> tei_routes();
std::span<const Route> deepl_routes();
std::span<const Route> hugging_face_routes();
std::span<const Route> whisper_cpp_routes();
std::span<const Route> native_routes();

// {"error": "..."}, for addresses of no protocol.
HttpResponse plain_error(const HttpError& error, const HttpRequest& request);
// {"error": {"message": "...", ...}}, as OpenAI's.
HttpResponse openai_error(const HttpError& error, const HttpRequest& request);

}  // namespace encdec::serve

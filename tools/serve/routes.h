#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "serve/call.h"

namespace encdec::serve {

// A function that writes an error in the form of a protocol.
using ErrorForm = HttpResponse (*)(const HttpError& error, const HttpRequest& request);

// A method and a path, and the handler for them.
struct Route {
  std::string_view method;
  std::string_view path;  // an asterisk at the end matches any word: "/v1/models/*"
  asio::awaitable<void> (*handle)(Call& call);
  ErrorForm error;

  // The place of the client's API key.
  enum class Key : std::uint8_t {
    in_header,
    in_body,  // in a header, or in the body as api_key
    none,     // no key needed
  };
  Key key = Key::in_header;

  // The kind of content in the body, which decides its maximum size.
  enum class Body : std::uint8_t { text, recording };
  Body body = Body::text;

  bool is_socket = false;  // the handler serves a WebSocket
};

// The route of a request and who has sent it.
struct RouteMatch {
  const Route* route = nullptr;  // null if no route has the path
  std::string word;              // part of the path that matches the asterisk of the route's path
  std::string other_methods;     // "GET, POST" if the path has routes, but none with the method of the request
  std::string key;               // API key in the header; empty if there is none
  std::string client;            // name of the client: its key if that is valid, else its address
};

// Returns what the service has found out about a request. All members are empty if its header could not be read.
const RouteMatch& match_of(const HttpRequest& request);

// The routes of each protocol, from the file in protocols/ with its name.
std::span<const Route> libretranslate_routes();
std::span<const Route> openai_routes();
std::span<const Route> openai_audio_routes();
std::span<const Route> openai_realtime_routes();
std::span<const Route> tei_routes();
std::span<const Route> rerank_routes();
std::span<const Route> deepl_routes();
std::span<const Route> native_routes();

// Returns a message with the names of models in place of their folders.
std::string without_folders(std::string message, const ServeSettings& settings);

// Returns {"error": "..."}, the form for addresses that belong to no protocol.
HttpResponse plain_error(const HttpError& error, const HttpRequest& request);
// Returns {"error": {"message": "...", ...}}, the form of OpenAI's API.
HttpResponse openai_error(const HttpError& error, const HttpRequest& request);
// Returns {"error": "...", "error_type": "..."}, the form of text-embeddings-inference.
HttpResponse tei_error(const HttpError& error, const HttpRequest& request);

}  // namespace encdec::serve

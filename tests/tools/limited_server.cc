// The server with lower limits than those that encdec serve has options for:
//   limited_server unix=PATH|port=N model=NAME=DIR... [LIMIT=VALUE | OPTION=NUMBER]...
// OPTION is one of a slice, such as --live-timeout.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "server/settings.h"

int main(int argc, char** argv) {
  using namespace encdec::serve;
  spdlog::set_default_logger(spdlog::stderr_logger_mt("encdec"));
  spdlog::set_pattern("%n: %l: %v");
  ServeSettings settings;
  settings.load.threads = 1;
  HttpLimits& http = settings.http;
  ServiceLimits& limits = settings.limits;
  const auto number = [](auto& value) {
    return [&value](const std::string& text) { value = std::remove_reference_t<decltype(value)>(std::stoi(text)); };
  };
  std::map<std::string, std::function<void(const std::string&)>> setters = {
      {"unix", [&](const std::string& path) { settings.unix_path = path, settings.host = ""; }},
      {"port", number(settings.port)},
      {"model",
       [&](const std::string& text) {
         const std::size_t equals = text.find('=');
         settings.models.push_back({.name = text.substr(0, equals), .folder = text.substr(equals + 1)});
       }},
      {"connections", number(http.connections)},
      {"header_time", number(http.header_time)},
      {"body_time", number(http.body_time)},
      {"write_time", number(http.write_time)},
      {"idle_time", number(http.idle_time)},
      {"ping_time", number(http.ping_time)},
      {"requests", number(limits.requests)},
      {"total_request_bytes", number(limits.total_request_bytes)},
      {"response_bytes", number(limits.response_bytes)},
      {"unread_bytes", number(limits.unread_bytes)},
      {"inputs", number(limits.inputs)},
      {"drain_time", number(limits.drain_time)},
  };
  for (const auto& slice : settings.slices) {
    for (const ServeOption& option : slice->options()) {
      if (auto* const* value = std::get_if<std::size_t*>(&option.value)) setters.emplace(option.name, number(**value));
    }
  }
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    setters.at(argument.substr(0, equals))(argument.substr(equals + 1));
  }
  serve(settings);
  return EXIT_SUCCESS;
}

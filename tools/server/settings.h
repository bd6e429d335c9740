#pragma once

#include <encdec/models/model.h>

#include <chrono>
#include <string>
#include <vector>

#include "server/http/server.h"
#include "server/server_slice.h"

namespace encdec::serve {

// Number of threads that run the handlers, which also tokenize.
inline constexpr std::size_t kHandlerThreads = 2;

// A model given as `--model NAME=DIR`.
struct ModelArgument {
  std::string name;
  std::string folder;
};

// Maximum values.
struct ServiceLimits {
  std::size_t inputs = 1024;                        // texts in one request
  int beams = 16;                                   // beams or samples of one input
  int new_tokens = 4096;                            // tokens of one result
  std::size_t requests = 512;                       // requests that wait or run; further requests get status 429
  std::size_t total_request_bytes = 64 << 20;       // bytes of the bodies of all requests that arrive, wait or run
  std::size_t response_bytes = 64 << 20;            // bytes of one response
  std::size_t unread_bytes = 256 << 20;             // bytes of all responses that clients have not read yet
  std::chrono::milliseconds request_time{300'000};  // time to handle one request
  std::chrono::seconds drain_time{30};              // time to finish all requests before the process ends
  std::chrono::seconds stall_time{60};              // time without progress of a busy model; then /health reports 503
};

// The options of `encdec serve`.
struct ServeSettings {
  std::vector<ModelArgument> models;
  LoadOptions load = {};
  int workers = 1;
  int batch_size = 0;
  std::vector<std::shared_ptr<ServerSlice>> slices = server_slices();

  std::string host = "127.0.0.1";  // empty: listen on `unix_path` only
  int port = 8080;
  std::string unix_path = {};  // path of a Unix socket to listen on; empty for no Unix socket

  HttpLimits http = {};
  ServiceLimits limits = {};
  std::vector<std::string> keys = {};           // accepted API keys; if empty, requests need no key
  std::string metrics_key = {};                 // accepted key of /metrics; if empty, /metrics needs no key
  std::vector<std::string> cors_origins = {};   // sites whose pages may send requests; "*" for all sites
  std::vector<std::string> allowed_hosts = {};  // names accepted in Host, in addition to loopback names
  bool log_json = false;
  bool quiet = false;  // do not log requests
};

// Serves until SIGINT or SIGTERM, then finishes accepted requests within ServiceLimits::drain_time. A second signal
// ends the process at once. Throws if it cannot listen or load a model.
void serve(const ServeSettings& settings);

// Schedules the end of the process with `status` after `time`, even if threads are blocked then.
void exit_within(std::chrono::seconds time, int status);

}  // namespace encdec::serve

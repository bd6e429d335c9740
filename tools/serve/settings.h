#pragma once

#include <encdec/models/model.h>

#include <chrono>
#include <string>
#include <vector>

#include "serve/http/server.h"

namespace encdec::serve {

// A model of `--model NAME=DIR`.
struct ModelSource {
  std::string name;
  std::string folder;
  std::string languages = {};  // as ModelLanguages::told; empty for what its files say
};

// What requests may ask for.
struct ServiceLimits {
  std::size_t inputs = 1024;             // texts of a request
  std::size_t sentences = 16'384;        // of these, where texts are cut into them
  int beams = 16;                        // and samples
  int new_tokens = 4096;                 // of a result
  int alternatives = 8;                  // beside the best translation
  std::size_t requests = 512;            // that wait or run; one more is told to come later
  std::size_t request_bytes = 64 << 20;  // of the bodies of all of these
  std::size_t answer_bytes = 64 << 20;   // maximum of one answer
  std::size_t unread_bytes = 256 << 20;  // maximum of all answers that are being made or wait to be read
  std::size_t recording_bytes =
      26 << 20;  // of the body of one with a recording: OpenAI's 25 MiB, and the form around it
  std::size_t recording_seconds = 14'400;
  std::chrono::milliseconds request_time{300'000};
  std::chrono::seconds drain_time{30};
  std::chrono::seconds stall_time{60};  // of silence of a busy model, after which /health gives the process up
};

// What `encdec serve` is told.
struct ServeSettings {
  std::vector<ModelSource> models;
  LoadOptions load = {};
  int workers = 1;
  int batch_size = 0;
  std::string vad_model = {};  // TranscribeOptions::vad_model, for requests that want it; empty for none

  std::string host = "127.0.0.1";
  int port = 8080;
  std::string unix_path = {};  // empty for none; then a host counts only if it is named

  HttpLimits http = {};
  ServiceLimits limits = {};
  std::vector<std::string> keys = {};           // any of them opens; none: open to all
  std::string metrics_key = {};                 // of /metrics, which is open without one
  std::vector<std::string> cors_origins = {};   // of pages that may call; "*" for all
  std::vector<std::string> allowed_hosts = {};  // names that Host may have beside those of the loopback interface
  bool log_json = false;
  bool quiet = false;  // no line for each request
};

}  // namespace encdec::serve

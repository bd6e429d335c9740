#include <encdec/engine/thread_team.h>
#include <encdec/models/checkpoint/mapped_file.h>
#include <encdec/models/model/hub_cache.h>
#include <fmt/format.h>
#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "command/commands.h"
#include "command/options.h"
#include "encdec/engine/base/machine.h"
#include "server/settings.h"

namespace encdec::cli {
namespace {

struct ServeArguments {
  std::vector<std::string> models;
  std::string key_file;
  std::string metrics_key_file;
  ModelArguments model;
  serve::ServeSettings settings;
};

// Parses "NAME=DIR" or "DIR". Without NAME, the model has the folder's name. DIR may be OWNER/NAME.
serve::ModelArgument parse_model(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0)
    return {text.substr(0, equals), model_folder(text.substr(equals + 1)).string()};
  const std::filesystem::path folder = std::filesystem::absolute(text).lexically_normal();
  return {(folder.has_filename() ? folder : folder.parent_path()).filename().string(), model_folder(text).string()};
}

// Reads one key per line, without surrounding spaces. Skips empty lines and lines that begin with '#'.
std::vector<std::string> read_keys(const std::string& path) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF", kSpaces = " \t\r";
  std::istringstream lines(read_text_file(path, kMaxBytes));
  std::vector<std::string> keys;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (++number == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    line.erase(0, line.find_first_not_of(kSpaces));
    line.erase(line.find_last_not_of(kSpaces) + 1);
    if (line.empty() || line.front() == '#') continue;
    if (line.find_first_of(kSpaces) != std::string::npos) {
      throw UsageError(fmt::format("{}:{}: a space within a key, expected one key a line", path, number));
    }
    keys.push_back(line);
  }
  if (keys.empty()) throw UsageError(fmt::format("{}: no keys, expected one per line", path));
  return keys;
}

// Writes log lines in a separate thread, so that a slow disk or pipe does not delay requests. If too many lines wait,
// the oldest lines are dropped.
void log_asynchronously(bool is_json) {
  constexpr std::size_t kWaiting = 8192;
  spdlog::init_thread_pool(kWaiting, 1);
  auto logger =
      std::make_shared<spdlog::async_logger>("encdec", std::make_shared<spdlog::sinks::stderr_sink_mt>(),
                                             spdlog::thread_pool(), spdlog::async_overflow_policy::overrun_oldest);
  logger->set_pattern(is_json ? "%v" : "%n: %l: %v");
  logger->set_error_handler([](const std::string&) {});
  spdlog::set_default_logger(std::move(logger));
}

void run(const ServeArguments& arguments) {
  serve::ServeSettings settings = arguments.settings;
  for (const std::string& text : arguments.models) settings.models.push_back(parse_model(text));
  try {
    for (const auto& slice : settings.slices) slice->check(settings);
  } catch (const ConfigError& error) {
    throw UsageError(error.what());
  }
  // Requests name a model, so names must be unique.
  std::set<std::string> names;
  for (const serve::ModelArgument& model : settings.models) {
    if (names.insert(model.name).second) continue;
    throw UsageError(fmt::format("--model: two are called '{}', expected NAME=DIR with a name for each", model.name));
  }
  settings.load = arguments.model.load_options;
  if (!arguments.key_file.empty()) settings.keys = read_keys(arguments.key_file);
  if (!arguments.metrics_key_file.empty()) settings.metrics_key = read_keys(arguments.metrics_key_file).front();
  settings.quiet = arguments.model.quiet;
  log_asynchronously(settings.log_json);
  // Maximum time to write the last log lines: their reader may have stopped reading.
  constexpr std::chrono::seconds kLastLines{1};
  try {
    serve::serve(settings);
  } catch (...) {
    serve::exit_within(kLastLines, EXIT_FAILURE);
    spdlog::shutdown();
    throw;
  }
  serve::exit_within(kLastLines, EXIT_SUCCESS);
  spdlog::shutdown();
}

template <class Duration>
void add_time(CLI::App& command, const char* name, Duration& time, const char* help) {
  constexpr int kDay = 86'400;
  command
      .add_option_function<int>(
          name, [&time](int seconds) { time = std::chrono::seconds(seconds); }, help)
      ->type_name("SECONDS")
      ->default_str(std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()))
      ->check(integer_from(1, kDay));
}

// Adds a hidden option that is refused with a message.
void refuse(CLI::App& command, const char* name, const std::string& message) {
  command
      .add_option_function<std::string>(name, [message = fmt::format("{} {}", name, message)](
                                                  const std::string& /*value*/) { throw UsageError(message); })
      ->expected(0, 1)
      ->group("");  // hidden
}

void add_slice_option(CLI::App& command, const serve::ServeOption& option) {
  const auto add = [&](auto* value) {
    if constexpr (!std::is_same_v<decltype(value), std::size_t*>) {
      add_value_option(command, option.name, *value, option.type, option.help == nullptr ? "" : option.help);
    } else if (option.help == nullptr) {
      refuse(command, option.name, fmt::format("is fixed at {}", *value));
    } else {
      add_number_option(command, option.name, *value, 1, option.max, option.help);
    }
  };
  std::visit(add, option.value);
}

// Adds options of earlier versions, which are refused with a message that has the fixed value or the replacement.
void add_removed_options(CLI::App& command, const serve::ServeSettings& settings) {
  const serve::HttpLimits& http = settings.http;
  const serve::ServiceLimits& limits = settings.limits;
  const auto fix = [&command](const char* name, auto value) {
    refuse(command, name, fmt::format("is fixed at {}", value));
  };
  fix("--max-header-bytes", http.header_bytes);
  fix("--max-header-fields", http.header_fields);
  fix("--max-connections", http.connections);
  fix("--max-request-bytes", limits.total_request_bytes);
  fix("--max-answer-bytes", limits.response_bytes);
  fix("--max-unread-bytes", limits.unread_bytes);
  fix("--max-inputs", limits.inputs);
  fix("--max-beams", limits.beams);
  fix("--max-new-tokens", limits.new_tokens);
  fix("--header-timeout", http.header_time.count());
  fix("--body-timeout", http.body_time.count());
  fix("--write-timeout", http.write_time.count());
  fix("--idle-timeout", http.idle_time.count());
  refuse(command, "--wyoming", "is gone: wyoming-openai speaks that protocol, see docs/serve.md");
  refuse(command, "--glossaries", "is gone: send 'glossary' with each request");
}

}  // namespace

Action add_serve(CLI::App& command) {
  const auto arguments = std::make_shared<ServeArguments>();
  serve::ServeSettings& settings = arguments->settings;
  add_value_option(command, "-m,--model", arguments->models, "[NAME=]DIR",
                   "Checkpoint folder to serve as NAME, or under the folder's own name; may be repeated")
      ->required();
  arguments->model.add_load_options(command);
  arguments->model.add_draft_options(command);
  add_number_option(command, "--workers", settings.workers, 1, kMaxThreads,
                    "Batches that a model computes in parallel, each with --threads");
  add_batch_size_option(command, settings.batch_size);
  add_value_option(command, "--host", settings.host, "ADDRESS",
                   "Address to listen on; 0.0.0.0: all IPv4 addresses, empty: none")
      ->capture_default_str();
  add_number_option(command, "--port", settings.port, 0, 65535, "Port to listen on; 0: any free port");
  add_file_option(command, "--unix", settings.unix_path, "Unix socket to listen on as well");
  add_file_option(command, "--api-key-file", arguments->key_file, "File with the accepted API keys, one per line");
  add_file_option(command, "--metrics-key-file", arguments->metrics_key_file, "File with the key for /metrics");
  add_value_option(command, "--cors-origin", settings.cors_origins, "URL",
                   "Origin whose web pages may call the server, * for all; may be repeated");
  add_value_option(command, "--allowed-host", settings.allowed_hosts, "NAME",
                   "Host name that clients may use for this server if it listens only on localhost; may be repeated");
  command.add_flag("--log-json", settings.log_json, "Write log lines as JSON objects");
  arguments->model.add_quiet_option(command, "No request log");

  // Add the limits and the options of slices.
  serve::ServiceLimits& limits = settings.limits;
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 34, kMaxCount = 1'000'000;
  add_number_option(command, "--max-body-bytes", settings.http.body_bytes, 1, kMaxBytes,
                    "Maximum bytes of a request's body");
  add_number_option(command, "--max-requests", limits.requests, 1, kMaxCount,
                    "Maximum requests that wait or run; further requests are refused and may retry later");
  for (const auto& slice : settings.slices) {
    for (const serve::ServeOption& option : slice->options()) add_slice_option(command, option);
  }
  add_time(command, "--request-timeout", limits.request_time, "Maximum time to process a request");
  add_time(command, "--drain-timeout", limits.drain_time, "Maximum time to finish running requests after SIGTERM");
  add_time(command, "--stall-timeout", limits.stall_time,
           "Time without progress of a busy model after which /health returns 503");
  add_removed_options(command, settings);
  return [arguments] { run(*arguments); };
}

}  // namespace encdec::cli

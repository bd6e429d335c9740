#pragma once

#include <encdec/models/checkpoint/json.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

namespace encdec::cli {

// Options that several subcommands have, so that they mean the same everywhere.
void add_model_option(CLI::App& command, std::string& folder);
void add_threads_option(CLI::App& command, int& threads);
void add_input_option(CLI::App& command, std::string& path, const std::string& content);
void add_output_option(CLI::App& command, std::string& path, const std::string& content);

// For CLI::Option::check: "'0', expected an integer from 1 to 1024".
CLI::Validator integer_from(std::int64_t min, std::int64_t max);

// More lines than that in one batch, or more threads, is a typing error.
inline constexpr int kMaxBatchSize = 65536;
inline constexpr int kMaxThreads = 1024;
inline constexpr int kMaxTokens = 1'000'000;

}  // namespace encdec::cli

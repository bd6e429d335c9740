#pragma once

#include <encdec/engine/base/precision.h>
#include <encdec/models/generation/generation_settings.h>

#include <CLI/App.hpp>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arguments/arguments.h"

namespace encdec::cli {

// Options that several subcommands have, so that they mean the same everywhere.
void add_model_option(CLI::App& command, std::string& folder);
void add_threads_option(CLI::App& command, int& threads);
void add_precision_option(CLI::App& command, Precision& precision);
void add_weights_cache_option(CLI::App& command, std::string& folder);
// 0, the default, is what the library chooses.
void add_batch_size_option(CLI::App& command, int& batch_size);
void add_input_option(CLI::App& command, std::string& path, const std::string& content);
void add_output_option(CLI::App& command, std::string& path, const std::string& content);
void add_language_options(CLI::App& command, std::string& source, std::string& target);

// For CLI::Option::check: "'0', expected an integer from 1 to 1024".
CLI::Validator integer_from(std::int64_t min, std::int64_t max);
// "'nan', expected a number from -1000 to 1000".
CLI::Validator number_from(double min, double max);
// "'1 x', expected token ids separated by spaces".
CLI::Validator token_id_list();

// All of a text as a number; nullopt for anything else.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// More lines than that in one batch, more threads, beams and so on, is a typing error.
inline constexpr int kMaxBatchSize = 65536;
inline constexpr int kMaxThreads = 1024;
inline constexpr int kMaxBeams = kMaxSequences;
inline constexpr int kMaxTokens = kMaxTokenCount;

}  // namespace encdec::cli

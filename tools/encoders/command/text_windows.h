#pragma once

#include <encdec/models/generation/generate_options.h>

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "command/line_reader.h"
#include "command/options.h"

namespace encdec::cli {

// Arguments of the commands that read one text per line.
struct TextArguments {
  ModelArguments model;
  std::string input;
  std::string output;
  int batch_size = 32;
  std::size_t window_lines = 1024;  // lines to read ahead, so that texts of similar length share a batch
  LongSources long_texts = LongSources::truncate;

  // Adds --model, --input and --output. The parameters are the help texts of --input and --output.
  void add_files(CLI::App& command, const std::string& input_content, const std::string& output_content);
  // Adds --batch-size, --long-texts and the options of ModelArguments.
  void add_reading(CLI::App& command);
  // Copies the arguments to the options of a call.
  template <class Options>
  void set(Options& options) const {
    options.batch_size = batch_size;
    options.long_texts = long_texts;
  }
};

// Reads `input` in windows of lines, large enough for texts of similar length to share a batch. Writes the text that
// `compute` returns for each window.
void for_each_window(const TextArguments& arguments, LineReader& input,
                     const std::function<std::string(const std::vector<std::string>& lines)>& compute);

}  // namespace encdec::cli

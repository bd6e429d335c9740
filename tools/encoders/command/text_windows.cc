#include "encoders/command/text_windows.h"

#include <algorithm>

#include "command/lines.h"
#include "command/output_file.h"
#include "command/progress_bar.h"

namespace encdec::cli {
namespace {

// Waits for the next line, then also reads the lines that have already arrived. Returns no lines at the end.
std::vector<std::string> read_window(LineReader& input, const TextArguments& arguments) {
  std::vector<std::string> lines;
  const std::size_t limit = std::max(arguments.window_lines, static_cast<std::size_t>(arguments.batch_size));
  std::string line;
  while (lines.size() < limit && (lines.empty() || input.ready()) && input.next(line)) {
    check_utf8(line, input.position());
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

void TextArguments::add_files(CLI::App& command, const std::string& input_content, const std::string& output_content) {
  add_model_option(command, model.folder);
  add_input_option(command, input, input_content);
  add_output_option(command, output, output_content);
}

void TextArguments::add_reading(CLI::App& command) {
  add_number_option(command, "--batch-size", batch_size, 1, kMaxBatchSize,
                    "Texts per batch. Does not change the results");
  CLI::Option* option = command.add_option_function<std::string>(
      "--long-texts",
      [this](const std::string& word) { long_texts = word == "error" ? LongSources::error : LongSources::truncate; },
      "Truncate the end of a text that is too long for the model, or stop with an error");
  take_words(option, {"truncate", "error"})->default_str("truncate");
  model.add_load_options(command);
  model.add_quiet_option(command, "No progress bar");
}

void for_each_window(const TextArguments& arguments, LineReader& input,
                     const std::function<std::string(const std::vector<std::string>& lines)>& compute) {
  OutputFile output(arguments.output);
  arguments.model.note_typed_input(arguments.input);
  ProgressBar bar = arguments.model.quiet ? ProgressBar::none() : ProgressBar();
  Progress progress;
  // Process the lines that have arrived. Write their results before waiting for more input.
  for (;;) {
    const std::vector<std::string> lines = read_window(input, arguments);
    if (lines.empty()) break;
    output.write(compute(lines));
    progress.lines += static_cast<std::int64_t>(lines.size());
    progress.fraction = input.fraction(input.bytes());
    bar.show(progress);
    if (!input.ready()) output.flush();
  }
  bar.clear();
  output.commit();
}

}  // namespace encdec::cli

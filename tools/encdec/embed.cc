#include <encdec/engine/base/error.h>
#include <encdec/models/model.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "encdec/commands.h"
#include "encdec/line_reader.h"
#include "encdec/lines.h"
#include "encdec/options.h"
#include "encdec/output_file.h"
#include "encdec/progress_bar.h"

namespace encdec::cli {
namespace {

// Number of lines to read before computing, so that texts of similar length share a batch.
constexpr std::size_t kReadAheadLines = 1024;

struct EmbedArguments {
  ModelArguments model;
  std::string input;
  std::string output;
  EmbedOptions embed = {.batch_size = 32};
};

// Returns a JSON array of the shortest digits that give the same floats. NaN and infinity become null, since JSON has
// no number for them.
std::string format_embedding(std::span<const float> embedding) {
  std::string text = "[";
  for (const float value : embedding) {
    if (text.size() > 1) text += ", ";
    text += std::isfinite(value) ? fmt::format("{}", value) : "null";
  }
  return text + "]\n";
}

// Reads the next lines: waits for the first one and adds the others that have arrived. Returns none at the end.
std::vector<std::string> read_window(LineReader& input, int batch_size) {
  std::vector<std::string> lines;
  const std::size_t limit = std::max(kReadAheadLines, static_cast<std::size_t>(batch_size));
  std::string line;
  while (lines.size() < limit && (lines.empty() || input.ready()) && input.next(line)) {
    check_utf8(line, input.position());
    lines.push_back(line);
  }
  return lines;
}

void embed(const EmbedArguments& options) {
  LineReader input(options.input);
  OutputFile output(options.output);
  const Model model = options.model.load_text_model();
  options.model.note_typed_input(options.input);
  ProgressBar bar = options.model.quiet ? ProgressBar::hidden() : ProgressBar();
  Progress progress;
  const int batch_size = options.embed.batch_size;
  for (auto lines = read_window(input, batch_size); !lines.empty(); lines = read_window(input, batch_size)) {
    const Tensor embeddings = model.embed(lines, options.embed);
    for (Dim i = 0; i < embeddings.rows(); ++i) {
      output.write(format_embedding({embeddings.row(i), static_cast<std::size_t>(embeddings.width())}));
    }
    progress.lines += static_cast<std::int64_t>(lines.size());
    progress.fraction = input.fraction(input.bytes());
    bar.show(progress);
    if (!input.ready()) output.flush();
  }
  bar.clear();
  output.commit();
}

}  // namespace

Action add_embed(CLI::App& command) {
  const auto options = std::make_shared<EmbedArguments>();
  add_model_option(command, options->model.folder);
  add_input_option(command, options->input, "Texts in UTF-8, one per line");
  add_output_option(command, options->output, "One JSON array of numbers for each text");
  EmbedOptions& embedding = options->embed;
  command.add_flag("--normalize", embedding.normalize,
                   "Scale vectors to length 1, even if the folder's files do not ask for it");
  add_number_option(command, "--dimensions", embedding.dimensions,
                    "Keep only the first N numbers of each vector, before normalisation; 0: all")
      ->check(integer_from(0, kMaxTokens));
  const auto add_text = [&](const char* name, std::optional<std::string>& text, const char* type, const char* help) {
    return command
        .add_option_function<std::string>(
            name, [&text](const std::string& given) { text = given; }, help)
        ->type_name(type);
  };
  CLI::Option* prompt = add_text("--prompt", embedding.prompt, "TEXT", "Text to put before each input text");
  add_text("--prompt-name", embedding.prompt_name, "NAME",
           "Prompt of this name in the folder's files, such as query or document; their default prompt if not given")
      ->excludes(prompt);
  add_number_option(command, "--batch-size", embedding.batch_size,
                    "Texts computed together. Results do not depend on it")
      ->check(integer_from(1, kMaxBatchSize));
  options->model.add_load_options(command);
  options->model.add_quiet_option(command, "No progress bar");
  command.footer(
      R"(Pooling and normalisation follow the folder's files (modules.json of sentence-transformers). Without these files, a
vector is the mean over all tokens. Texts that are too long for the model are truncated.)");
  return [options] { embed(*options); };
}

}  // namespace encdec::cli

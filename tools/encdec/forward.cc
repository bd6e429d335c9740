#include <encdec/engine/error.h>
#include <encdec/models/model.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "commands.h"
#include "interrupt.h"
#include "line_reader.h"
#include "lines.h"
#include "model_arguments.h"
#include "options.h"
#include "safetensors_file.h"

namespace encdec::cli {
namespace {

struct ForwardArguments {
  ModelArguments model;
  std::string input;
  std::string decoder_input;
  std::string output;
  int batch_size = 8;
};

std::vector<TokenIds> read_rows(LineReader& input, Dim vocabulary) {
  std::vector<TokenIds> rows;
  for (std::string line; input.next(line);) {
    rows.push_back(parse_token_ids(line, vocabulary, input.position()));
    if (rows.back().empty()) {
      throw InputError(fmt::format("{}: an empty line, expected at least one token id", input.position()));
    }
  }
  return rows;
}

Dim longest(std::span<const TokenIds> rows) {
  std::size_t length = 0;
  for (const TokenIds& row : rows) length = std::max(length, row.size());
  return static_cast<Dim>(length);
}

// Copies rows of a batch, [b, l, W], to where they belong in tensor `entry`, [B, L, W], from sequence `first` on.
void write_rows(SafetensorsFile& file, std::size_t entry, const Tensor& batch, std::span<const TokenIds> rows,
                std::int64_t first_row, Dim length) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    file.write(entry, (first_row + row * length) * batch.width(), batch.row(row * batch.shape()[1]),
               static_cast<std::int64_t>(rows[i].size()) * batch.width());
  }
}

// What the command has read, and how long the longest rows are.
struct Rows {
  std::vector<TokenIds> sources;  // none in a decoder-only model
  std::vector<TokenIds> targets;  // none in an encoder-only model

  std::size_t count() const { return std::max(sources.size(), targets.size()); }
};

Rows read_input(const ForwardArguments& options, const TransformerConfig& config) {
  if (config.architecture == Architecture::encoder_decoder) {
    if (options.decoder_input.empty()) throw UsageError("--decoder-input is required: the model has a decoder");
    LineReader source_input(options.input);
    LineReader target_input(options.decoder_input);
    Rows rows{read_rows(source_input, config.encoder.vocabulary),
              read_rows(target_input, config.decoder.input_tokens())};
    if (rows.sources.size() == rows.targets.size()) return rows;
    const bool more_sources = rows.sources.size() > rows.targets.size();
    const std::size_t both = std::min(rows.sources.size(), rows.targets.size());
    throw InputError(fmt::format("{}:{}: {} has only {} lines, expected as many in both",
                                 (more_sources ? source_input : target_input).name(), both + 1,
                                 (more_sources ? target_input : source_input).name(), both));
  }
  if (config.has_encoder() && !options.decoder_input.empty()) {
    throw UsageError("--decoder-input: the model has no decoder");
  }
  if (!options.input.empty() && !options.decoder_input.empty()) {
    throw UsageError("--input and --decoder-input: the model has only a decoder, expected one of them");
  }
  LineReader input(options.decoder_input.empty() ? options.input : options.decoder_input);
  auto rows = read_rows(input, config.input_stack().vocabulary);
  return config.has_encoder() ? Rows{std::move(rows), {}} : Rows{{}, std::move(rows)};
}

void forward(const ForwardArguments& options) {
  const Model model = options.model.load();
  const TransformerConfig& config = model.config();
  const Rows rows = read_input(options, config);
  const auto batch_count = static_cast<std::int64_t>(rows.count());
  const Dim source_length = longest(rows.sources), target_length = longest(rows.targets);
  std::vector<SafetensorsFile::Entry> entries;
  if (config.has_decoder()) entries.push_back({"logits", {batch_count, target_length, config.decoder.vocabulary}});
  if (config.has_encoder()) {
    entries.push_back({config.has_decoder() ? "encoder_last_hidden_state" : "last_hidden_state",
                       {batch_count, source_length, config.model_dim}});
  }
  SafetensorsFile file(options.output, entries);
  const auto batch_size = static_cast<std::size_t>(options.batch_size);
  for (std::size_t first = 0; first < rows.count(); first += batch_size) {
    const auto batch_of = [&](const std::vector<TokenIds>& all) {
      return all.empty() ? std::span<const TokenIds>()
                         : std::span(all).subspan(first, std::min(batch_size, all.size() - first));
    };
    const auto sources = batch_of(rows.sources), targets = batch_of(rows.targets);
    const ForwardResult result = model.forward(sources, targets);
    const auto row = static_cast<std::int64_t>(first);
    if (config.has_decoder()) write_rows(file, 0, result.logits, targets, row * target_length, target_length);
    if (config.has_encoder()) {
      write_rows(file, entries.size() - 1, result.encoder_last_hidden_state, sources, row * source_length,
                 source_length);
    }
    throw_if_interrupted();
  }
  file.commit();
}

}  // namespace

Action add_forward(CLI::App& command) {
  const auto options = std::make_shared<ForwardArguments>();
  add_model_option(command, options->model.folder);
  add_input_option(command, options->input, "Token ids of the sources, a line each, used exactly as given");
  command
      .add_option(
          "--decoder-input", options->decoder_input,
          "Token ids of the targets, line by line, beginning with the decoder start token; not for encoder-only "
          "models")
      ->type_name("FILE");
  command.add_option("--output", options->output, "The .safetensors file to write")->required()->type_name("FILE");
  command.add_option("--batch-size", options->batch_size, "Sources computed together; results do not depend on it")
      ->check(integer_from(1, kMaxBatchSize))
      ->type_name("N")
      ->capture_default_str();
  options->model.add_load_options(command);
  command.footer(
      "Writes logits [B, T, V] and encoder_last_hidden_state [B, S, D] in float32, with zeros after the end of a row "
      "that\n"
      "is shorter than the longest. An encoder-only model gives last_hidden_state [B, S, D] alone. A decoder-only "
      "model "
      "reads\n"
      "one of the two inputs, and gives logits alone.");
  return [options] { forward(*options); };
}

}  // namespace encdec::cli

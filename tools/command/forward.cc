#include <encdec/engine/base/error.h>
#include <encdec/models/model.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "command/commands.h"
#include "command/line_reader.h"
#include "command/lines.h"
#include "command/options.h"
#include "command/output_file.h"

namespace encdec::cli {
namespace {

struct ForwardArguments {
  ModelArguments model;
  std::string input;
  std::string decoder_input;
  std::string output;
  int batch_size = 8;
};

// Reads token ids, one row per line. Throws InputError for an empty line.
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

// Writes float32 tensors to a .safetensors file, batch by batch, so that the tensors need not fit into memory. Elements
// that are never written are zero.
class TensorFile {
 public:
  // The file format is little-endian, and values are written without conversion.
  static_assert(std::endian::native == std::endian::little);

  struct Entry {
    std::string name;
    std::vector<Dim> shape;  // [B, L, W]: batch, length, width
  };

  // Opens the file and writes the header. Throws FileError if the file cannot be written or is not a regular file.
  TensorFile(const std::string& path, const std::vector<Entry>& entries)
      : output_(path, OutputFile::Unfinished::remove), file_(output_.regular()) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    std::uint64_t size = 0;
    for (const auto& [name, shape] : entries) {
      std::uint64_t bytes = sizeof(float);
      for (const Dim dim : shape) bytes *= static_cast<std::uint64_t>(dim);
      header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {size, size + bytes}}};
      tensors_.push_back({size, shape[1]});
      size += bytes;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the values to 8 bytes, for readers that map the file
    const std::uint64_t header_bytes = text.size();
    const std::uint64_t data = sizeof(header_bytes) + header_bytes;
    for (auto& [offset, length] : tensors_) offset += data;
    file_.resize(data + size);
    file_.write_at(0, std::as_bytes(std::span(&header_bytes, 1)));
    file_.write_at(sizeof(header_bytes), std::as_bytes(std::span(text)));
  }

  // Writes a batch, [b, l, W], to tensor `entry`, starting at sequence `first`. Leaves out padding: writes only the
  // first rows[i].size() positions of sequence i of the batch.
  void write(std::size_t entry, std::size_t first, const Tensor& batch, std::span<const TokenIds> rows) {
    const auto& [offset, length] = tensors_[entry];
    const std::size_t row_bytes = static_cast<std::size_t>(batch.width()) * sizeof(float);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const float* values = batch.row(static_cast<Dim>(i) * batch.shape()[1]);
      file_.write_at(offset + (first + i) * static_cast<std::size_t>(length) * row_bytes,
                     {reinterpret_cast<const std::byte*>(values), rows[i].size() * row_bytes});
    }
  }

  void commit() { output_.commit(); }

 private:
  struct Place {
    std::uint64_t offset;  // offset of the tensor's first byte in the file
    Dim length;            // length L in the tensor's shape
  };

  OutputFile output_;
  NewFile& file_;
  std::vector<Place> tensors_;
};

// Token ids that the command has read.
struct Rows {
  std::vector<TokenIds> sources;  // empty for a decoder-only model
  std::vector<TokenIds> targets;  // empty for an encoder-only model

  std::size_t count() const { return std::max(sources.size(), targets.size()); }
};

// Reads the inputs that the architecture needs: sources, targets, or both with the same number of lines.
Rows read_input(const ForwardArguments& options, const TransformerConfig& config) {
  if (config.has_encoder() && config.has_decoder()) {
    if (options.decoder_input.empty()) throw UsageError("--decoder-input is required: the model has a decoder");
    LineReader source_input(options.input);
    LineReader target_input(options.decoder_input);
    Rows rows{read_rows(source_input, config.encoder.vocabulary),
              read_rows(target_input, config.decoder.input_tokens())};
    if (rows.sources.size() == rows.targets.size()) return rows;
    const bool more_sources = rows.sources.size() > rows.targets.size();
    const std::size_t both = std::min(rows.sources.size(), rows.targets.size());
    throw InputError(fmt::format("{}:{}: {} has only {} lines, expected the same number in both",
                                 (more_sources ? source_input : target_input).name(), both + 1,
                                 (more_sources ? target_input : source_input).name(), both));
  }
  if (config.has_encoder() && !options.decoder_input.empty()) {
    throw UsageError(fmt::format("--decoder-input: the model {}", config.why_not_generative()));
  }
  if (!options.input.empty() && !options.decoder_input.empty()) {
    throw UsageError("--input and --decoder-input: the model has only a decoder, expected one of them");
  }
  LineReader input(options.decoder_input.empty() ? options.input : options.decoder_input);
  auto rows = read_rows(input, config.input_stack().vocabulary);
  return config.has_encoder() ? Rows{std::move(rows), {}} : Rows{{}, std::move(rows)};
}

void forward(const ForwardArguments& options) {
  const Model model = options.model.load_text_model();
  const TransformerConfig& config = model.config();
  const Rows rows = read_input(options, config);
  const auto batch_count = static_cast<std::int64_t>(rows.count());
  const Dim source_length = longest(rows.sources), target_length = longest(rows.targets);
  // Open the file. The shapes of all tensors are known before the first batch is computed.
  std::vector<TensorFile::Entry> entries;
  if (config.has_decoder()) entries.push_back({"logits", {batch_count, target_length, config.decoder.vocabulary}});
  if (config.has_encoder()) {
    entries.push_back({config.has_decoder() ? "encoder_last_hidden_state" : "last_hidden_state",
                       {batch_count, source_length, config.encoder.model_dim}});
  }
  TensorFile file(options.output, entries);
  const auto batch_size = static_cast<std::size_t>(options.batch_size);
  for (std::size_t first = 0; first < rows.count(); first += batch_size) {
    const auto batch_of = [&](const std::vector<TokenIds>& all) {
      return all.empty() ? std::span<const TokenIds>()
                         : std::span(all).subspan(first, std::min(batch_size, all.size() - first));
    };
    const auto sources = batch_of(rows.sources), targets = batch_of(rows.targets);
    const ForwardResult result = model.forward(sources, targets);
    if (config.has_decoder()) file.write(0, first, result.logits, targets);
    if (config.has_encoder()) file.write(entries.size() - 1, first, result.encoder_last_hidden_state, sources);
  }
  file.commit();
}

}  // namespace

Action add_forward(CLI::App& command) {
  const auto options = std::make_shared<ForwardArguments>();
  add_model_option(command, options->model.folder);
  add_input_option(command, options->input, "Token ids of the sources, one source per line, used exactly as given");
  add_file_option(
      command, "--decoder-input", options->decoder_input,
      "Token ids of the targets, one target per line, decoder start token first; not for encoder-only models");
  add_file_option(command, "-o,--output", options->output, "The .safetensors file to write")->required();
  add_number_option(command, "--batch-size", options->batch_size, 1, kMaxBatchSize,
                    "Sources computed together. Results do not depend on it");
  options->model.add_load_options(command);
  command.footer(
      R"(Writes float32 tensors: logits [B, T, V] and encoder_last_hidden_state [B, S, D]. Rows shorter than the longest are
padded with zeros. For an encoder-only model, writes only last_hidden_state [B, S, D]. For a decoder-only model, reads
one of the two inputs and writes only logits.)");
  return [options] { forward(*options); };
}

}  // namespace encdec::cli

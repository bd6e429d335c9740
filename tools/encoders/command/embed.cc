#include <encdec/encoders/embedder.h>
#include <encdec/engine/base/error.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "command/commands.h"
#include "command/option_rows.h"
#include "common/json_arrays.h"
#include "encoders/command/text_windows.h"

namespace encdec::cli {
namespace {

struct EmbedArguments {
  TextArguments text;
  EmbedOptions embed;
  bool pieces = false;
};

// Returns the shortest digits that give the same float. NaN and infinity become null, since JSON has no number for
// them.
std::string format_number(float value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

// Returns a JSON array of numbers.
std::string format_row(std::span<const float> values) {
  std::string text = "[";
  for (const float value : values) text += (text.size() > 1 ? ", " : "") + format_number(value);
  return text + "]";
}

// Returns a JSON array of the vectors of tokens.
std::string format_rows(const VectorResult& vectors) {
  std::string text = "[";
  for (std::size_t row = 0; row < vectors.rows; ++row) {
    text += (row > 0 ? ", " : "") + format_row(std::span(vectors.values).subspan(row * vectors.width, vectors.width));
  }
  return text + "]";
}

// Returns a JSON object of weights, by token id or, with a tokenizer, by the text of the token. An id that the
// vocabulary lacks stays an id.
std::string format_sparse(const VectorResult& vector, const Tokenizer* tokenizer) {
  const auto key = [tokenizer](std::int32_t id) -> nlohmann::ordered_json {
    try {
      if (tokenizer != nullptr) return tokenizer->piece(id, TextSide::source);
    } catch (const InputError&) {
    }
    return std::to_string(id);
  };
  std::string text = "{";
  for (std::size_t i = 0; i < vector.values.size(); ++i) {
    text +=
        fmt::format("{}{}: {}", i > 0 ? ", " : "", to_text(key(vector.token_ids[i])), format_number(vector.values[i]));
  }
  return text + "}";
}

// Returns a line of JSON for each text.
std::string embed(const Embedder& embedder, const std::vector<std::string>& texts, const EmbedArguments& arguments) {
  std::string lines;
  for (const VectorResult& vector : embedder.embed_each(texts, arguments.embed)) {
    lines += vector.output == EmbedOutput::dense ? format_row(vector.values)
             : vector.output == EmbedOutput::sparse
                 ? format_sparse(vector, arguments.pieces ? embedder.model().tokenizer() : nullptr)
                 : format_rows(vector);
    lines += '\n';
  }
  return lines;
}

void embed(EmbedArguments& arguments) {
  LineReader input(arguments.text.input);
  const Embedder embedder(arguments.text.model.load_text_model());
  arguments.text.set(arguments.embed);
  const EmbedOutput output = arguments.embed.output;
  const bool is_large = output == EmbedOutput::tokens || output == EmbedOutput::colbert;
  if (is_large) arguments.text.window_lines = 64;
  for_each_window(arguments.text, input,
                  [&](const std::vector<std::string>& lines) { return embed(embedder, lines, arguments); });
}

}  // namespace

Action add_embed(CLI::App& command) {
  const auto options = std::make_shared<EmbedArguments>();
  options->text.add_files(command, "Texts in UTF-8, one per line", "One JSON array of numbers for each text");
  EmbedOptions& embedding = options->embed;
  const auto add_kind = [&](const char* name, EmbedOutput output, const char* help) {
    return command.add_flag_callback(
        name, [&embedding, output] { embedding.output = output; }, help);
  };
  CLI::Option* sparse = add_kind("--sparse", EmbedOutput::sparse,
                                 R"(Sparse vectors (SPLADE, BGE-M3), a JSON object each: {"TOKEN ID": weight, ...})");
  CLI::Option* tokens = add_kind("--token-vectors", EmbedOutput::tokens,
                                 "Vectors of all tokens, special tokens included: one array of arrays for each text");
  CLI::Option* colbert = add_kind("--colbert-vectors", EmbedOutput::colbert,
                                  "The same for late interaction (BGE-M3): of all tokens but the first, of length 1");
  tokens->excludes(sparse);
  colbert->excludes(sparse)->excludes(tokens);
  command.add_flag("--pieces", options->pieces, R"(With --sparse, {"TOKEN": weight, ...})")->needs(sparse);
  CLI::Option* normalize = command.add_flag("--normalize", embedding.normalize,
                                            "Scale vectors to length 1, even if the folder's files do not ask for it");
  CLI::Option* dimensions =
      add_number_option(command, "--dimensions,--truncate-dim", embedding.dimensions, 0, kMaxTokenCount,
                        "Keep only the first N numbers of each vector, before normalisation; 0: all");
  for (CLI::Option* of_texts : {normalize, dimensions}) of_texts->excludes(sparse)->excludes(tokens)->excludes(colbert);
  CLI::Option* prompt = add_option(command, OptionInfo("prompt", {}, {}, "TEXT", "Text to put before each input text"),
                                   &embedding.prompt);
  const OptionInfo name(
      "prompt_name", {}, {}, "NAME",
      "Prompt of this name in the folder's files, such as query or document; their default prompt if not given");
  add_option(command, name, &embedding.prompt_name)->excludes(prompt);
  options->text.add_reading(command);
  command.footer(
      R"(Pooling and normalisation follow the folder's files (modules.json of sentence-transformers). Without these files, a
vector is the mean over all tokens. Sparse vectors need a folder with SpladePooling, a masked language model
(architectures in config.json end with ForMaskedLM), or sparse_linear.pt of BGE-M3.)");
  return [options] { embed(*options); };
}

}  // namespace encdec::cli

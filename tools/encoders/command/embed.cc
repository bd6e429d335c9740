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

// Returns the shortest decimal number that reads back as the same float. Returns "null" for NaN and infinity, which
// JSON lacks.
std::string format_number(float value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

// Returns a JSON array of numbers.
std::string format_row(std::span<const float> values) {
  std::string text = "[";
  for (const float value : values) text += (text.size() > 1 ? ", " : "") + format_number(value);
  return text + "]";
}

// Returns a JSON array with the vector of each token.
std::string format_rows(const VectorResult& vectors) {
  std::string text = "[";
  for (std::size_t row = 0; row < vectors.rows; ++row) {
    text += (row > 0 ? ", " : "") + format_row(std::span(vectors.values).subspan(row * vectors.width, vectors.width));
  }
  return text + "]";
}

// Returns a JSON object of weights. Its keys are token ids or, with a tokenizer, tokens. An id that is not in the
// vocabulary remains an id.
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

// Returns one line of JSON per text.
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
  if (is_large) arguments.text.window_lines = 64;  // limits the memory for results
  for_each_window(arguments.text, input,
                  [&](const std::vector<std::string>& lines) { return embed(embedder, lines, arguments); });
}

}  // namespace

Action add_embed(CLI::App& command) {
  const auto options = std::make_shared<EmbedArguments>();
  options->text.add_files(command, "Texts in UTF-8, one per line", "A JSON array of numbers for each text");
  EmbedOptions& embedding = options->embed;
  const auto add_kind = [&](const char* name, EmbedOutput output, const char* help) {
    return command.add_flag_callback(
        name, [&embedding, output] { embedding.output = output; }, help);
  };
  CLI::Option* sparse = add_kind("--sparse", EmbedOutput::sparse,
                                 R"(Write sparse vectors (SPLADE, BGE-M3): {"TOKEN ID": weight, ...} for each text)");
  CLI::Option* tokens =
      add_kind("--token-vectors", EmbedOutput::tokens,
               "Write the vectors of all tokens, including special tokens: [[...], ...] for each text");
  CLI::Option* colbert =
      add_kind("--colbert-vectors", EmbedOutput::colbert,
               "Write BGE-M3's vectors for late interaction: a unit vector for each token except the first");
  // A call writes one kind of vectors.
  tokens->excludes(sparse);
  colbert->excludes(sparse)->excludes(tokens);
  command
      .add_flag("--pieces", options->pieces, R"(With --sparse, write tokens instead of ids: {"TOKEN": weight, ...})")
      ->needs(sparse);
  CLI::Option* normalize = command.add_flag("--normalize", embedding.normalize,
                                            "Scale vectors to length 1, even if the folder's files do not specify it");
  CLI::Option* dimensions =
      add_number_option(command, "--dimensions,--truncate-dim", embedding.dimensions, 0, kMaxTokenCount,
                        "Keep only the first N numbers of each vector, before normalisation; 0: all");
  // Only dense vectors can be normalised or truncated.
  for (CLI::Option* of_texts : {normalize, dimensions}) of_texts->excludes(sparse)->excludes(tokens)->excludes(colbert);
  CLI::Option* prompt = add_option(command, OptionInfo("prompt", {}, {}, "TEXT", "Text to prepend to each input text"),
                                   &embedding.prompt);
  const OptionInfo name(
      "prompt_name", {}, {}, "NAME",
      "Prepend this prompt from the folder's files, such as query or document; default: the folder's default prompt");
  add_option(command, name, &embedding.prompt_name)->excludes(prompt);
  options->text.add_reading(command);
  command.footer(
      R"(The folder's files (modules.json of sentence-transformers) specify pooling and normalisation. Without these files, a
vector is the mean over all tokens. Sparse vectors require a folder with SpladePooling, a masked language model (the
architectures in config.json end with ForMaskedLM), or BGE-M3's sparse_linear.pt.)");
  return [options] { embed(*options); };
}

}  // namespace encdec::cli

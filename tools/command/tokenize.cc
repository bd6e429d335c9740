#include <encdec/engine/base/error.h>
#include <encdec/models/checkpoint/file_names.h>
#include <encdec/models/checkpoint/json.h>
#include <encdec/models/model/hub_cache.h>
#include <encdec/models/tokenizer/load_tokenizer.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <limits>
#include <memory>

#include "command/commands.h"
#include "command/interrupt.h"
#include "command/line_reader.h"
#include "command/lines.h"
#include "command/options.h"
#include "command/output_file.h"

namespace encdec::cli {
namespace {

struct TokenizeArguments {
  std::string model;
  std::string input;
  std::string output;
  bool decode = false;
  bool target = false;
  bool pieces = false;
  std::string source_lang;
  std::string target_lang;
};

// Loads the tokenizer of a checkpoint folder. The folder need not have weights.
std::unique_ptr<Tokenizer> load(const std::string& model) {
  const std::filesystem::path folder = model_folder(model), config = folder / "config.json";
  const auto type = file_exists(config) ? read_json_object(config).string("model_type") : std::nullopt;
  auto tokenizer = load_tokenizer(folder, type.value_or(""));
  if (tokenizer == nullptr) throw TokenizerError(fmt::format("{}: no tokenizer files, expected some", model));
  return tokenizer;
}

// Converts a line to token ids or, with --decode, to a text. With --pieces, returns the ids' pieces of text instead.
std::string converted(const std::string& line, const std::string& position, const Tokenizer& tokenizer,
                      const TokenizeArguments& options) {
  TokenIds ids;
  if (options.decode) {
    ids = parse_token_ids(line, std::numeric_limits<std::int32_t>::max(), position);
  } else {
    check_utf8(line, position);
    const EncodeOptions languages{.source_language = options.source_lang, .target_language = options.target_lang};
    ids = options.target ? tokenizer.encode_target(line, languages) : tokenizer.encode(line, languages);
    if (!options.pieces) return format_token_ids(ids);
  }
  const TextSide side = options.target || options.decode ? TextSide::target : TextSide::source;
  try {
    if (!options.pieces) return as_line(tokenizer.decode(ids));
    return without_controls(fmt::format("{}", fmt::join(tokenizer.pieces(ids, side), " ")));
  } catch (const InputError& error) {
    throw InputError(position + ": " + error.what());
  }
}

void tokenize(const TokenizeArguments& options) {
  LineReader input(options.input);
  OutputFile output(options.output);
  const std::unique_ptr<Tokenizer> tokenizer = load(options.model);
  for (std::string line; input.next(line);) {
    output.write(converted(line, input.position(), *tokenizer, options) + "\n");
    throw_if_interrupted();
    if (!input.ready()) output.flush();
  }
  output.commit();
}

}  // namespace

Action add_tokenize(CLI::App& command) {
  const auto options = std::make_shared<TokenizeArguments>();
  add_model_option(command, options->model);
  add_input_option(command, options->input,
                   "Texts in UTF-8, one per line; with --decode, token ids separated by spaces");
  add_output_option(command, options->output, "Token ids, one line for each text; with --decode, texts");
  command.add_flag("--decode", options->decode, "Convert token ids to the text that `encdec generate` would write");
  command.add_flag("--target", options->target, "Convert texts as targets, for the decoder, instead of sources");
  command.add_flag("--pieces", options->pieces, "Write the piece of text of each id instead of the id");
  add_value_option(command, "--source-lang", options->source_lang, "LANG",
                   "Language of the sources, for a multilingual model");
  add_value_option(command, "--target-lang", options->target_lang, "LANG", "Language of the targets");
  command.footer("Ids include the special tokens that the model reads.");
  return [options] { tokenize(*options); };
}

}  // namespace encdec::cli

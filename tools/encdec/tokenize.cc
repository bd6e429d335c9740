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

#include "encdec/commands.h"
#include "encdec/interrupt.h"
#include "encdec/line_reader.h"
#include "encdec/lines.h"
#include "encdec/options.h"
#include "encdec/output_file.h"

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

// Returns model_type of the folder's config.json; empty if the file or the member does not exist.
std::string model_type(const std::filesystem::path& folder) {
  const auto config = folder / "config.json";
  return file_exists(config) ? read_json_object(config).string("model_type").value_or("") : "";
}

// The tokenizer of a checkpoint folder, applied line by line. Needs no weights.
class LineTokenizer {
 public:
  explicit LineTokenizer(const TokenizeArguments& options) : options_(options) {
    const std::filesystem::path folder = model_folder(options.model);
    tokenizer_ = load_tokenizer(folder, model_type(folder));
    if (tokenizer_ == nullptr) {
      throw TokenizerError(fmt::format("{}: no tokenizer files, expected some", options.model));
    }
  }

  std::string convert(const std::string& line, const std::string& position) const {
    if (!options_.decode) {
      check_utf8(line, position);
      const EncodeOptions languages{.source_language = options_.source_lang, .target_language = options_.target_lang};
      const TokenIds ids =
          options_.target ? tokenizer_->encode_target(line, languages) : tokenizer_->encode(line, languages);
      return options_.pieces ? shown(ids, position) : format_token_ids(ids);
    }
    return shown(parse_token_ids(line, std::numeric_limits<std::int32_t>::max(), position), position);
  }

 private:
  // Returns the ids as pieces with --pieces, else as text.
  std::string shown(const TokenIds& ids, const std::string& position) const {
    const TextSide side = options_.target || options_.decode ? TextSide::target : TextSide::source;
    try {
      if (!options_.pieces) return as_line(tokenizer_->decode(ids));
      return without_controls(fmt::format("{}", fmt::join(tokenizer_->pieces(ids, side), " ")));
    } catch (const InputError& error) {
      throw InputError(position + ": " + error.what());
    }
  }

  const TokenizeArguments& options_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

void tokenize(const TokenizeArguments& options) {
  LineReader input(options.input);
  OutputFile output(options.output);
  const LineTokenizer tokenizer(options);
  for (std::string line; input.next(line);) {
    output.write(tokenizer.convert(line, input.position()) + "\n");
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
  command.add_flag("--decode", options->decode, "Convert token ids to the text that generate would print");
  command.add_flag("--target", options->target, "Convert texts as targets, for the decoder, instead of sources");
  command.add_flag("--pieces", options->pieces, "Write the piece of text of each id instead");
  add_value_option(command, "--source-lang", options->source_lang, "LANG",
                   "Language of the sources, for a multilingual model");
  add_value_option(command, "--target-lang", options->target_lang, "LANG", "Language of the targets");
  command.footer("Ids include the special tokens that the model reads.");
  return [options] { tokenize(*options); };
}

}  // namespace encdec::cli

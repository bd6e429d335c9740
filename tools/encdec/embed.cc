#include <encdec/models/model.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <span>

#include "encdec/commands.h"
#include "encdec/text_windows.h"

namespace encdec::cli {
namespace {

struct EmbedArguments {
  TextArguments text;
  EmbedOptions embed;
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

void embed(EmbedArguments& arguments) {
  LineReader input(arguments.text.input);
  const Model model = arguments.text.model.load_text_model();
  arguments.embed.batch_size = arguments.text.batch_size;
  arguments.embed.long_texts = arguments.text.long_texts;
  for_each_window(arguments.text, input, [&](const std::vector<std::string>& lines) {
    const Tensor embeddings = model.embed(lines, arguments.embed);
    std::string text;
    for (Dim i = 0; i < embeddings.rows(); ++i) {
      text += format_embedding({embeddings.row(i), static_cast<std::size_t>(embeddings.width())});
    }
    return text;
  });
}

}  // namespace

Action add_embed(CLI::App& command) {
  const auto options = std::make_shared<EmbedArguments>();
  options->text.add_files(command, "Texts in UTF-8, one per line", "One JSON array of numbers for each text");
  EmbedOptions& embedding = options->embed;
  command.add_flag("--normalize", embedding.normalize,
                   "Scale vectors to length 1, even if the folder's files do not ask for it");
  add_number_option(command, "--dimensions,--truncate-dim", embedding.dimensions,
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
  options->text.add_reading(command);
  command.footer(
      R"(Pooling and normalisation follow the folder's files (modules.json of sentence-transformers). Without these files, a
vector is the mean over all tokens.)");
  return [options] { embed(*options); };
}

}  // namespace encdec::cli

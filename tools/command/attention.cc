#include <encdec/engine/base/error.h>
#include <encdec/engine/base/named_values.h>
#include <encdec/models/model.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "attention/labelled_attention.h"
#include "attention/svg.h"
#include "attention/terminal.h"
#include "command/attention_file.h"
#include "command/commands.h"
#include "command/interrupt.h"
#include "command/line_reader.h"
#include "command/lines.h"
#include "command/options.h"
#include "command/output_file.h"

namespace encdec::cli {
namespace {

struct AttentionArguments {
  ModelArguments model;
  std::optional<std::string> source;
  std::optional<std::string> target;
  std::string input;
  std::string target_file;
  std::string output;
  std::string kind;
  ColorChoice color = ColorChoice::automatic;
  TypedAttention choices;
  std::string source_lang;
  std::string target_lang;
  std::optional<int> max_new_tokens;
  LineForm form = LineForm::text;
};

// A text and its position for error messages.
struct Line {
  std::string text;
  std::string position;
};

// Returns the only line of the file, or of standard input if `path` is empty. Throws InputError if there is no line or
// a second line. On a terminal, does not wait for a second line.
Line only_line(const std::string& path) {
  LineReader reader(path);
  Line line, more;
  if (!reader.next(line.text)) throw InputError(reader.name() + ": no line, expected one");
  line.position = reader.position();
  const bool waits = path.empty() && ::isatty(STDIN_FILENO) == 1;
  if ((!waits || reader.ready()) && reader.next(more.text)) {
    throw InputError(
        fmt::format("{}: another line, expected only one; generate --attention takes many", reader.position()));
  }
  return line;
}

// The source and the target. If the target is unset, the model generates the target.
struct Lines {
  Line source;
  std::optional<Line> target;
};

// Reads the lines from arguments or files, before the model is loaded.
Lines lines_of(const AttentionArguments& options) {
  Lines lines{options.source ? Line{*options.source, "source"} : only_line(options.input), std::nullopt};
  const std::string& path = options.target_file;
  if (options.target) lines.target = Line{*options.target, "target"};
  if (!path.empty() && !std::filesystem::exists(path)) {
    throw FileError(
        fmt::format("{}: no such file, expected one with the target; pass a target text after the source text", path));
  }
  if (!path.empty()) lines.target = only_line(path);
  if (lines.source.text.empty()) throw InputError(lines.source.position + ": empty, expected a source");
  return lines;
}

// Returns which maps to show. By default, JSON shows all maps; a picture and the terminal show a single map.
AttentionSelection selection_of(const AttentionArguments& options, const TransformerConfig& config) {
  using Otherwise = TypedAttention::Otherwise;
  const bool has_room = attention_format(options.output) == AttentionFormat::json;
  AttentionSelection selection = options.choices.selection(has_room ? Otherwise::all : Otherwise::last_layer_mean);
  for (const AttentionNames& names : kAttentionKinds) {
    if (names.word == options.kind) selection.kinds = {names.kind};
  }
  if (options.kind.empty() && !has_room) selection.kinds = {main_kind(config)};
  return selection;
}

// Returns the attention between source and target. If no target is given, generates the target.
AttentionMaps maps_of(const Model& model, const Lines& lines, const AttentionArguments& options,
                      const AttentionSelection& selection) {
  const TransformerConfig& config = model.config();
  if (lines.target && !config.has_decoder()) {
    throw UsageError(fmt::format("a target, expected none: {} {}", options.model.folder, config.why_not_generative()));
  }
  const Line &from = lines.source, to = lines.target.value_or(Line());
  const LineTokens source = parse_line(from.text, options.form, config.input_stack().vocabulary, from.position);
  if (!lines.target && config.has_decoder()) {
    const GenerateInput input{.source = source};
    const GenerateOptions generate{.num_return_sequences = 1,
                                   .max_new_tokens = options.max_new_tokens,
                                   .source_lang = options.source_lang,
                                   .target_lang = options.target_lang,
                                   .attention = selection};
    return std::move(model.generate_inputs(std::span(&input, 1), generate).front().hypotheses.front().attention);
  }
  const LineTokens target = parse_line(to.text, options.form, config.decoder.vocabulary, to.position);
  const AttentionMapOptions asked{
      .selection = selection, .source_lang = options.source_lang, .target_lang = options.target_lang};
  if (options.form == LineForm::text) {
    return model.attention(std::get<std::string>(source), std::get<std::string>(target), asked);
  }
  return model.attention_ids(std::get<TokenIds>(source), std::get<TokenIds>(target), asked);
}

// Returns {"encoder_self": {...}, "decoder_self": {...}, "cross": {...}}, but only the kinds that `maps` has.
std::string maps_json(const std::vector<LabelledAttention>& maps) {
  std::string json = "{";
  for (const LabelledAttention& map : maps) {
    const std::string_view key = attention_names(map.map.kind).key;
    json += fmt::format(R"({}"{}":{{{}}})", json.size() > 1 ? "," : "", key, json_members(map));
  }
  return json + "}\n";
}

// Returns the source or, if there is a target, source and target with an arrow between them.
std::string title_of(const Model& model, const AttentionMaps& attention, const std::string& source) {
  if (attention.target.empty()) return source;
  const std::string target = model.tokenizer() != nullptr ? decode_known(*model.tokenizer(), attention.target)
                                                          : format_token_ids(attention.target);
  return source + " \u2192 " + target;
}

void write(const std::vector<LabelledAttention>& maps, const std::string& title, const AttentionArguments& options,
           OutputFile& output) {
  const AttentionFormat format = attention_format(options.output);
  if (format == AttentionFormat::json) return output.write(maps_json(maps));
  if (format == AttentionFormat::svg) return output.write(draw_svg(title, maps));
  const TerminalStyle style = choose_style(options.color, terminal_facts(STDOUT_FILENO));
  for (const LabelledAttention& map : maps) {
    draw_in_terminal(map, style, [&output](std::string_view text) { output.write(text); });
  }
}

void show(const AttentionArguments& options) {
  const AttentionFormat format = attention_format(options.output);
  if (options.source && !options.input.empty()) throw UsageError("a source and --input, expected one of them");
  if (options.target && !options.target_file.empty()) throw UsageError("a target and --target, expected one of them");
  if (format == AttentionFormat::alignment || format == AttentionFormat::unknown) {
    throw UsageError(fmt::format("--output {}: expected a name that ends in .svg or .json", options.output));
  }
  const Lines lines = lines_of(options);
  OutputFile output(options.output, OutputFile::Unfinished::remove);
  const Model model = options.model.load_for(options.form);
  options.model.check_languages(model, options.source_lang, options.target_lang);
  const AttentionSelection selection = selection_of(options, model.config());
  const AttentionMaps attention = maps_of(model, lines, options, selection);
  std::vector<LabelledAttention> maps = label(model, attention, selection);
  // Move maps of the main kind to the front. std::ranges::stable_partition does not compile with clang 14.
  std::stable_partition(maps.begin(), maps.end(),
                        [&](const LabelledAttention& map) { return map.map.kind == main_kind(model.config()); });
  throw_if_interrupted();
  write(maps, title_of(model, attention, lines.source.text), options, output);
  output.commit();
}

}  // namespace

Action add_attention(CLI::App& command) {
  const auto options = std::make_shared<AttentionArguments>();
  add_model_option(command, options->model.folder);
  // The positional names are in capitals, because CLI11 2.4 confuses a positional `target` with --target.
  add_value_option(command, "SOURCE", options->source, "TEXT", "The source; if not given, the line in --input");
  add_value_option(command, "TARGET", options->target, "TEXT",
                   "The target whose attention is shown; if not given, the target that the model generates");
  add_input_option(command, options->input, "File with the source, one line in UTF-8");
  add_file_option(command, "--target", options->target_file, "File with the target, one line");
  add_file_option(command, "-o,--output", options->output,
                  "Picture (.svg) or numbers (.json) to write; the terminal if not given");
  CLI::Option* kind = command.add_option("--kind", options->kind,
                                         "Self-attention of the encoder or decoder, cross-attention, or all; if not "
                                         "given, all for .json, else cross-attention if the model has it");
  std::vector<std::string> kinds;
  for (const AttentionNames& names : kAttentionKinds) kinds.emplace_back(names.word);
  kinds.emplace_back("all");
  take_words(kind, kinds);
  add_attention_choices(command, "--layer", "--head", options->choices);
  static constexpr std::array kColorChoices = {
      Named{ColorChoice::automatic, "auto"}, Named{ColorChoice::always, "always"}, Named{ColorChoice::never, "never"}};
  add_words_option(command, "--color", kColorChoices, options->color,
                   "Colours in the terminal; auto: if the terminal supports them");
  add_value_option(command, "--max-new-tokens", options->max_new_tokens, "N",
                   "Maximum tokens to generate if no target is given")
      ->check(integer_from(1, kMaxTokenCount));
  add_token_ids_option(command, options->form, "Source and target are");
  add_language_options(command, options->source_lang, options->target_lang);
  options->model.add_load_options(command);
  options->model.add_quiet_option(command, "No notes");
  command.footer(
      R"(Rows are queries, columns are keys. A decoder row is labelled with the token that it produced. By default the terminal
and pictures show the mean of the last layer's heads, and JSON has every head of every layer; --layer and --head change
this. In JSON, weights are indexed [layer][head][row][column].)");
  return [options] { show(*options); };
}

}  // namespace encdec::cli

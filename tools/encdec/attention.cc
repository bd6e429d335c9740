#include <encdec/engine/error.h>
#include <encdec/models/model.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "attention_image.h"
#include "attention_labels.h"
#include "attention_options.h"
#include "attention_page.h"
#include "attention_terminal.h"
#include "attention_text.h"
#include "commands.h"
#include "interrupt.h"
#include "line_reader.h"
#include "load_model.h"
#include "options.h"
#include "output_file.h"
#include "text.h"
#include "token_ids.h"
#include "token_lookup.h"

namespace encdec::cli {
namespace {

struct AttentionArguments {
  std::string model;
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
  int threads = 0;
  Precision precision = Precision::float32;
  std::string weights_cache;
  bool token_ids = false;
  bool quiet = false;
};

// A text, and where it stands, for messages.
struct Line {
  std::string text;
  std::string position;
};

// Of a terminal, what stands there when it has a line: nobody should have to end it.
Line only_line(const std::string& path) {
  LineReader reader(path);
  Line line, more;
  if (!reader.next(line.text)) throw InputError(reader.name() + ": no line, expected one");
  line.position = reader.position();
  const bool waits = path.empty() && ::isatty(STDIN_FILENO) == 1;
  if ((!waits || reader.ready()) && reader.next(more.text)) {
    throw InputError(fmt::format("{}: another line, expected one: generate --attention takes many", reader.position()));
  }
  return line;
}

Line source_of(const AttentionArguments& options) {
  return options.source ? Line{*options.source, "source"} : only_line(options.input);
}

std::optional<Line> target_of(const AttentionArguments& options) {
  if (options.target) return Line{*options.target, "target"};
  if (options.target_file.empty()) return std::nullopt;
  if (!std::filesystem::exists(options.target_file)) {
    throw FileError(fmt::format("{}: no such file, expected one with the target; as text it stands behind the source",
                                options.target_file));
  }
  return only_line(options.target_file);
}

std::optional<AttentionKind> kind_named(const std::string& name) {
  if (name == "encoder") return AttentionKind::encoder_self;
  if (name == "decoder") return AttentionKind::decoder_self;
  if (name == "cross") return AttentionKind::cross;
  return std::nullopt;
}

// Pictures show one map where nothing else is asked for; files have room for all.
AttentionSelection selection_of(const AttentionArguments& options, const TransformerConfig& config) {
  const AttentionFormat format = attention_format(options.output);
  const bool has_room = !options.output.empty() && (format == AttentionFormat::page || format == AttentionFormat::json);
  AttentionSelection selection =
      selection_of(options.choices, has_room ? UntypedChoices::all : UntypedChoices::last_layer_mean);
  if (const auto kind = kind_named(options.kind)) selection.kinds = {*kind};
  if (options.kind.empty() && !has_room) selection.kinds = {main_kind(config)};
  return selection;
}

// From the source to the maps: of the target, or else of what the model generates.
class Reading {
 public:
  explicit Reading(const AttentionArguments& options)
      : options_(options), source_(source_of(options)), target_(target_of(options)) {
    if (source_.text.empty()) throw InputError(source_.position + ": empty, expected a source");
  }

  const std::string& source() const { return source_.text; }

  AttentionMaps read(const Model& model, const AttentionSelection& selection) const {
    if (target_ && !model.config().has_decoder()) {
      throw UsageError(fmt::format("a target, expected none: {} has no decoder", options_.model));
    }
    const bool generates = !target_ && model.config().has_decoder();
    const AttentionMapOptions options{
        .selection = selection, .source_lang = options_.source_lang, .target_lang = options_.target_lang};
    if (options_.token_ids) {
      const TokenIds source = parse_token_ids(source_.text, model.config().input_stack().vocabulary, source_.position);
      if (generates) return generated(model, {.source = source}, options);
      return model.attention_ids(source, target_ids(model), options);
    }
    check_utf8(source_.text, source_.position);
    if (generates) return generated(model, {.source = source_.text}, options);
    if (target_) check_utf8(target_->text, target_->position);
    return model.attention(source_.text, target_ ? target_->text : std::string(), options);
  }

 private:
  TokenIds target_ids(const Model& model) const {
    if (!target_) return {};
    return parse_token_ids(target_->text, model.config().decoder.vocabulary, target_->position);
  }
  AttentionMaps generated(const Model& model, const GenerateInput& input, const AttentionMapOptions& asked) const {
    GenerateOptions options{.num_return_sequences = 1,
                            .max_new_tokens = options_.max_new_tokens,
                            .source_lang = asked.source_lang,
                            .target_lang = asked.target_lang,
                            .attention = asked.selection,
                            .on_progress = [](const GenerateProgress&) { throw_if_interrupted(); }};
    return std::move(model.generate_inputs(std::span(&input, 1), options).front().hypotheses.front().attention);
  }

  const AttentionArguments& options_;
  Line source_;
  std::optional<Line> target_;
};

// {"encoder_self": {...}, "decoder_self": {...}, "cross": {...}}
std::string maps_json(const std::vector<LabelledAttention>& maps) {
  std::string json = "{";
  for (const LabelledAttention& map : maps) {
    if (json.size() > 1) json += ",";
    json += fmt::format(R"("{}":{{{}}})", json_name(map.map.kind), json_members(map));
  }
  return json + "}\n";
}

// The source, and what the decoder read and led to.
std::string title_of(const Model& model, const AttentionMaps& attention, const std::string& source) {
  if (attention.target.empty()) return source;
  const std::string target = model.tokenizer() != nullptr ? decode_known(*model.tokenizer(), attention.target)
                                                          : format_token_ids(attention.target);
  return source + " \u2192 " + target;
}

void write(const std::vector<LabelledAttention>& maps, const std::string& title, const AttentionArguments& options,
           OutputFile& output) {
  const TextSink sink = [&output](std::string_view text) { output.write(text); };
  if (options.output.empty()) {
    const TerminalStyle style = choose_style(options.color, terminal_facts(STDOUT_FILENO));
    for (const LabelledAttention& map : maps) draw_in_terminal(map, style, sink);
    return;
  }
  switch (attention_format(options.output)) {
    case AttentionFormat::json: return output.write(maps_json(maps));
    case AttentionFormat::image: return output.write(draw_png(maps));
    default: break;
  }
  AttentionPage page(sink);
  page.add({.title = title, .attentions = maps, .alignment = {}});
  page.end();
}

void show(const AttentionArguments& options) {
  const bool is_terminal = options.output.empty();
  const AttentionFormat format = attention_format(options.output);
  if (options.source && !options.input.empty()) throw UsageError("a source and --input, expected one of them");
  if (options.target && !options.target_file.empty()) throw UsageError("a target and --target, expected one of them");
  if (!is_terminal && format == AttentionFormat::alignment) {
    throw UsageError(fmt::format("--output {}: expected a name that ends in .html, .png or .json", options.output));
  }
  if (!is_terminal && format == AttentionFormat::image && !can_draw_png()) {
    throw UsageError(fmt::format("--output {}: this build has no images, expected a name that ends in .html or .json",
                                 options.output));
  }
  const Reading reading(options);
  OutputFile output(options.output, OutputFile::Unfinished::remove);
  const Model model = load_model(
      options.model,
      {.threads = options.threads, .precision = options.precision, .packed_weights_cache = options.weights_cache},
      options.quiet ? Notes::hide : Notes::show);
  check_lines_can_be_read(model, options.token_ids ? LineForm::token_ids : LineForm::text, options.model);
  const AttentionSelection selection = selection_of(options, model.config());
  const AttentionMaps attention = reading.read(model, selection);
  std::vector<LabelledAttention> maps = label(model, attention, selection);
  std::erase_if(maps, [](const LabelledAttention& map) { return map.queries.empty(); });  // of an empty target
  // Not the one of ranges: clang 14 cannot compile it.
  std::stable_partition(maps.begin(), maps.end(),
                        [&](const LabelledAttention& map) { return map.map.kind == main_kind(model.config()); });
  throw_if_interrupted();
  write(maps, title_of(model, attention, reading.source()), options, output);
  output.commit();
}

std::optional<ColorChoice> color_named(const std::string& name) {
  if (name == "auto") return ColorChoice::automatic;
  if (name == "always") return ColorChoice::always;
  if (name == "never") return ColorChoice::never;
  return std::nullopt;
}

}  // namespace

Action add_attention(CLI::App& command) {
  const auto options = std::make_shared<AttentionArguments>();
  add_model_option(command, options->model);
  // In capitals: CLI11 2.4 takes a positional target and --target for one name.
  command.add_option("SOURCE", options->source, "The source; else the line of --input")->type_name("TEXT");
  command
      .add_option(
          "TARGET", options->target,
          "The target whose tokens the attention is asked of, be they likely or not; else what the model generates")
      ->type_name("TEXT");
  add_input_option(command, options->input, "A file with the source, one line in UTF-8");
  command.add_option("--target", options->target_file, "A file with the target, one line")->type_name("FILE");
  command
      .add_option("--output", options->output,
                  "A page (.html), a picture (.png) or numbers (.json); the terminal if not given")
      ->type_name("FILE");
  CLI::Option* kind = command.add_option("--kind", options->kind,
                                         "Self-attention of the encoder or the decoder, cross-attention, or all; if "
                                         "not given, pages show all, pictures cross-attention where there is any");
  take_words(kind, {"encoder", "decoder", "cross", "all"});
  add_attention_choices(command, "--layer", "--head", options->choices);
  CLI::Option* color = command.add_option_function<std::string>(
      "--color", [options](const std::string& text) { options->color = *color_named(text); },
      "In the terminal; auto: where it has colours");
  take_words(color, {"auto", "always", "never"});
  command.add_option("--max-new-tokens", options->max_new_tokens, "Most tokens to generate where no target is given")
      ->check(integer_from(1, kMaxTokens))
      ->type_name("N");
  command.add_flag("--token-ids", options->token_ids,
                   "Source and target are token ids separated by spaces, used exactly as given; needs no tokenizer");
  add_language_options(command, options->source_lang, options->target_lang);
  add_threads_option(command, options->threads);
  add_precision_option(command, options->precision);
  add_weights_cache_option(command, options->weights_cache);
  command.add_flag("--quiet", options->quiet, "No notes on standard error");
  command.footer(
      "Rows are queries, columns are keys. A decoder's row is named by the token that it led to. Terminal and picture "
      "show the\n"
      "mean of the last layer's heads; --layer and --head choose others, or all of them. A page holds every head of "
      "every\n"
      "layer, unless one is chosen; so do numbers: weights[layer][head][row][column].");
  return [options] { show(*options); };
}

}  // namespace encdec::cli

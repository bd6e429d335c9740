#include <encdec/engine/error.h>
#include <encdec/models/model.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "interrupt.h"
#include "line_reader.h"
#include "options.h"
#include "output_file.h"
#include "progress_bar.h"
#include "stats.h"
#include "text.h"
#include "token_ids.h"

namespace encdec::cli {
namespace {

// Lines that go to the model in one call: enough to put those of like length into one batch, and few enough to hold.
constexpr int kWindowLines = 1024;
constexpr std::int64_t kWindowBytes = std::int64_t{4} << 20;

struct Options {
  std::string model;
  std::string input;
  std::string output;
  std::string stats;
  std::string precision = "float32";
  std::optional<int> max_new_tokens;
  std::optional<int> min_new_tokens;
  std::string source_lang;
  std::string target_lang;
  std::string forced_bos_token;
  int num_beams = 1;
  int batch_size = 32;
  int threads = 0;
  bool token_ids = false;
  bool json = false;
  bool quiet = false;
};

// Consecutive lines: texts, or their ids with --token-ids.
struct Window {
  std::vector<std::string> texts;
  std::vector<TokenIds> ids;
  std::int64_t first_byte = 0;
  std::int64_t end_byte = 0;
  std::exception_ptr failure;  // why the line after these cannot be read: told when they are done

  std::size_t size() const { return std::max(texts.size(), ids.size()); }
};

class Generation {
 public:
  explicit Generation(const Options& options)
      : options_(options),
        input_(options.input),
        output_(options.output),
        stats_file_(options.stats.empty()
                        ? nullptr
                        : std::make_unique<OutputFile>(options.stats, OutputFile::Unfinished::remove)),
        model_(Model::load(options.model, {.threads = options.threads})) {
    stats_.load_seconds = stopwatch_.seconds();
    if (!options.forced_bos_token.empty()) forced_bos_token_ = token_named(options.forced_bos_token);
    if (!options.token_ids && model_.tokenizer() == nullptr) {
      throw TokenizerError(fmt::format("{}: no tokenizer files, expected token ids with --token-ids", options.model));
    }
  }

  void run() {
    if (!options_.quiet) note_ignored_settings();
    bar_ = options_.quiet ? ProgressBar::hidden() : ProgressBar();
    try {
      for (;;) {
        const Window window = read_window();
        if (window.size() > 0) write(generate(window));
        if (window.failure) std::rethrow_exception(window.failure);
        if (window.size() == 0) break;
      }
      output_.commit();
    } catch (const Interrupted& stop) {
      throw Interrupted(stop.signal(), what_is_kept());
    } catch (const Error& error) {
      throw Error(error.what() + what_is_kept());
    }
    stats_.total_seconds = stopwatch_.seconds();
    if (stats_file_) {
      stats_file_->write(to_json(stats_) + "\n");
      stats_file_->commit();
    }
  }

 private:
  // For the end of an error message.
  std::string what_is_kept() const {
    const std::string partial = output_.partial_path();
    if (partial.empty()) return {};
    return fmt::format("; the output of the first {} lines is in {}", lines_, partial);
  }

  void note_ignored_settings() const {
    const auto& ignored = model_.generation_config().unsupported;
    if (ignored.empty()) return;
    spdlog::warn("{}: this version decodes greedily and passes over {} of the generation settings", options_.model,
                 fmt::join(ignored, ", "));
  }

  // A token as the vocabulary spells it, a language, or an id.
  std::int32_t token_named(const std::string& name) const {
    if (const Tokenizer* tokenizer = model_.tokenizer()) {
      if (const auto id = tokenizer->token_id(name)) return *id;
      if (const auto id = tokenizer->language_token(name)) return *id;
    }
    const bool is_number = name.size() < 10 && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) return std::stoi(name);
    throw ConfigError(
        fmt::format("{}: --forced-bos-token '{}', expected a token of the vocabulary or its id", options_.model, name));
  }

  // Up to a full window, or what has arrived where the rest would have to be waited for. Empty at the end.
  Window read_window() {
    Window window;
    window.first_byte = window.end_byte = input_.bytes();
    const auto limit = static_cast<std::size_t>(std::max(kWindowLines, options_.batch_size));
    try {
      std::string line;
      while (window.size() < limit && window.end_byte - window.first_byte < kWindowBytes &&
             (window.size() == 0 || input_.ready()) && input_.next(line)) {
        if (options_.token_ids) {
          window.ids.push_back(parse_token_ids(line, model_.config().input_stack().vocabulary, input_.position()));
        } else {
          check_utf8(line, input_.position());
          window.texts.push_back(line);
        }
        window.end_byte = input_.bytes();
      }
    } catch (const Error&) {
      window.failure = std::current_exception();
    }
    return window;
  }

  std::vector<GenerateResult> generate(const Window& window) {
    const Stats before = stats_;
    Progress progress{fraction(window, 0), lines_, before.generated_tokens};
    GenerateOptions options;
    options.num_beams = options_.num_beams;
    options.max_new_tokens = options_.max_new_tokens;
    options.min_new_tokens = options_.min_new_tokens;
    options.source_lang = options_.source_lang;
    options.target_lang = options_.target_lang;
    options.forced_bos_token = forced_bos_token_;
    options.batch_size = options_.batch_size;
    options.on_token = [&](std::size_t, std::int32_t) {
      ++progress.tokens;
      if (bar_.due()) bar_.show(progress);
    };
    options.on_progress = [&](const GenerateProgress& done) {
      stats_.encode_seconds = before.encode_seconds + done.encode_seconds;
      stats_.decode_seconds = before.decode_seconds + done.decode_seconds;
      stats_.source_tokens = before.source_tokens + static_cast<std::int64_t>(done.source_tokens);
      stats_.generated_tokens = before.generated_tokens + static_cast<std::int64_t>(done.generated_tokens);
      progress.lines = lines_ + static_cast<std::int64_t>(done.finished_sources);
      progress.fraction = fraction(window, done.finished_sources);
      bar_.show(progress);
      throw_if_interrupted();
    };
    const Stopwatch stopwatch;
    auto results =
        options_.token_ids ? model_.generate_ids(window.ids, options) : model_.generate(window.texts, options);
    if (options_.token_ids && model_.tokenizer() != nullptr) {
      for (GenerateResult& result : results) {
        for (Hypothesis& hypothesis : result.hypotheses) {
          hypothesis.text = decode_known(*model_.tokenizer(), hypothesis.token_ids);
        }
      }
    }
    stats_.generate_seconds += stopwatch.seconds();
    return results;
  }

  // Of the input's bytes, where their number is known.
  std::optional<double> fraction(const Window& window, std::size_t finished) const {
    const auto total = input_.total_bytes();
    if (!total || *total <= 0) return std::nullopt;
    const double share = static_cast<double>(finished) / static_cast<double>(window.size());
    return (static_cast<double>(window.first_byte) + share * static_cast<double>(window.end_byte - window.first_byte)) /
           static_cast<double>(*total);
  }

  void write(const std::vector<GenerateResult>& results) {
    bar_.clear();
    for (const GenerateResult& result : results) {
      output_.write(format(result));
      output_.write("\n");
    }
    output_.flush();
    lines_ += static_cast<std::int64_t>(results.size());
  }

  std::string format(const GenerateResult& result) const {
    if (options_.json) return format_json(result);
    const Hypothesis& best = result.hypotheses.front();
    if (options_.token_ids) return format_token_ids(best.token_ids);
    return as_line(best.text);
  }

  std::string format_json(const GenerateResult& result) const {
    nlohmann::ordered_json hypotheses = nlohmann::ordered_json::array();
    for (const Hypothesis& hypothesis : result.hypotheses) {
      nlohmann::ordered_json object;
      if (model_.tokenizer() != nullptr) object["text"] = hypothesis.text;
      object["token_ids"] = hypothesis.token_ids;
      object["score"] = hypothesis.score;
      hypotheses.push_back(std::move(object));
    }
    // Generated bytes need not be UTF-8, JSON must be.
    return nlohmann::ordered_json{{"hypotheses", std::move(hypotheses)}}.dump(
        -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

  const Options& options_;
  Stopwatch stopwatch_;
  LineReader input_;
  OutputFile output_;
  std::unique_ptr<OutputFile> stats_file_;
  Model model_;
  std::optional<std::int32_t> forced_bos_token_;
  ProgressBar bar_ = ProgressBar::hidden();
  Stats stats_;
  std::int64_t lines_ = 0;  // in the output
};

void add_options(CLI::App& command, Options& options) {
  add_model_option(command, options.model);
  add_input_option(command, options.input, "Sources, one a line, in UTF-8");
  add_output_option(command, options.output, "Generated texts, one a line, in the order of the input");
  command.add_flag("--token-ids", options.token_ids,
                   "Lines are token ids separated by spaces, used exactly as given; needs no tokenizer");
  command.add_flag("--json", options.json, "Write one JSON object a line: texts, token ids and scores");
  command.add_option("--max-new-tokens", options.max_new_tokens, "Most tokens to generate for one source")
      ->check(integer_from(1, kMaxTokens))
      ->type_name("N");
  command.add_option("--min-new-tokens", options.min_new_tokens, "Fewest tokens to generate for one source")
      ->check(integer_from(0, kMaxTokens))
      ->type_name("N");
  command
      .add_option("--source-lang", options.source_lang,
                  "Language of the sources, as the checkpoint spells it: eng_Latn, en_XX, en")
      ->type_name("LANG");
  command.add_option("--target-lang", options.target_lang, "Language to generate")->type_name("LANG");
  command
      .add_option("--forced-bos-token", options.forced_bos_token,
                  "First token to generate: as the vocabulary spells it, or its id")
      ->type_name("TOKEN");
  command.add_option("--num-beams", options.num_beams, "Beams of the search; this version has only 1, greedy search")
      ->check([](const std::string& text) {
        return text == "1" ? "" : fmt::format("'{}', but this version decodes greedily, expected 1", text);
      })
      ->type_name("N");
  command.add_option("--batch-size", options.batch_size, "Sources decoded together; results do not depend on it")
      ->check(integer_from(1, kMaxBatchSize))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--precision", options.precision, "Of the arithmetic; this version has only float32")
      ->check([](const std::string& text) {
        return text == "float32" ? "" : fmt::format("'{}', but this version computes in float32 only", text);
      })
      ->type_name("TYPE");
  add_threads_option(command, options.threads);
  command.add_option("--stats", options.stats, "Write times, token counts and memory to this file, as a JSON object")
      ->type_name("FILE");
  command.add_flag("--quiet", options.quiet, "No progress bar and no notes on standard error");
}

}  // namespace

Action add_generate(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  add_options(command, *options);
  command.footer(
      "What is not given comes from the checkpoint's generation_config.json. An empty line in gives an empty line out; "
      "a\n"
      "line may end with CR LF. Input that comes slowly is answered as it comes. The output file has its name only "
      "when it\n"
      "is complete: until then, and after a failure, it is FILE.partial. If the reader of standard output goes away, "
      "the\n"
      "command ends silently with status 1.");
  return [options] {
    if (!options->stats.empty() && options->stats == options->output) {
      throw UsageError("--stats and --output name the same file, expected two");
    }
    Generation(*options).run();
  };
}

}  // namespace encdec::cli

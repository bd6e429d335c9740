#include <encdec/engine/base/error.h>
#include <encdec/engine/base/mutex.h>
#include <encdec/models/generation/generation_settings.h>
#include <encdec/models/model.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "command/attention_file.h"
#include "command/commands.h"
#include "command/generation_arguments.h"
#include "command/interrupt.h"
#include "command/line_reader.h"
#include "command/lines.h"
#include "command/options.h"
#include "command/output_file.h"
#include "command/progress_bar.h"
#include "command/result_json.h"
#include "common/stopwatch.h"

namespace encdec::cli {
namespace {

// Maximum number of unfinished lines with --stream. The number is small, so that the next line to write finishes soon.
constexpr std::size_t kStreamedLines = 8;

struct GenerateArguments {
  ModelArguments model;
  std::string input;
  std::string output;
  std::string prefix;
  std::string draft;
  std::string stats;
  Shard shard;
  std::string attention;
  TypedAttention attention_choices;
  GenerationArguments generation;
  LineForm form = LineForm::text;
  bool json = false;
  bool token_scores = false;
  bool stream = false;
};

// Bytes of input that keep one worker busy: about a hundred lines.
constexpr std::int64_t kBytesPerWorker = 8192;

// One run of the command, from the first input line to the last.
class Generation final : private GenerateStream {
 public:
  explicit Generation(const GenerateArguments& options)
      : options_(options),
        input_(options.input, options.shard),
        prefix_(open_if_named(options.prefix)),
        draft_(open_if_named(options.draft)),
        lines_read_(readers()),
        output_path_(options.shard.number == 0 ? options.output : options.shard.output(options.output)),
        output_(output_path_),
        stats_file_(options.stats.empty()
                        ? nullptr
                        : std::make_unique<OutputFile>(options.stats, OutputFile::Unfinished::remove)),
        model_(load()) {
    stats_.load_seconds = stopwatch_.seconds();
    if (!options.attention.empty()) attention_file_.emplace(options.attention, options.attention_choices, model_);
    if (options.stream) streamer_.emplace(output_, options.form == LineForm::text ? model_.tokenizer() : nullptr);
  }

  void run() {
    if (!options_.model.quiet) note_ignored_settings();
    options_.model.note_typed_input(options_.input);
    const GenerateOptions options = generate_options();
    const bool has_text = draft_ != nullptr || options.draft_source || options.prompt_lookup_num_tokens.value_or(0) > 0;
    options_.model.note_unused_drafts(*(model_.generation_config() | options).num_beams, has_text);
    // Skip a shard that an earlier run has completed with the same input and settings.
    if (options_.shard.number > 0) {
      manifest_.emplace(options_.shard, options_.input, output_path_, result_settings(options));
      if (manifest_->is_done()) {
        if (!options_.model.quiet)
          spdlog::info("{}: already complete for this input and these options; skipped", output_path_);
        return;
      }
    }
    // Show no bar with --stream, because the bar would appear between the tokens of a line.
    bar_ = options_.model.quiet || options_.stream ? ProgressBar::none() : ProgressBar();
    try {
      const Stopwatch stopwatch;
      model_.generate_stream(*this, options);
      stats_.generate_seconds = stopwatch.seconds() - waiting_seconds_;
      bar_.clear();
      output_.commit();
      if (manifest_) manifest_->write(lines_);
      if (attention_file_) attention_file_->commit();
    } catch (const Interrupted& stop) {
      end_early();
      throw Interrupted(stop.signal(), partial_output_note());
    } catch (const Error& error) {
      end_early();
      throw Error(error.what() + partial_output_note());
    }
    // Report truncated sources and results, and write the statistics.
    stats_.total_seconds = stopwatch_.seconds();
    if (truncated_ > 0 && !options_.model.quiet) {
      spdlog::warn("{} of {} sources had too many tokens and were truncated", truncated_, lines_);
    }
    if (cut_off_ > 0 && !options_.model.quiet) {
      spdlog::warn("{} of {} results reached the model's limit of tokens, so their ends may be missing", cut_off_,
                   lines_);
    }
    if (stats_file_) {
      stats_file_->write(to_json(stats_) + "\n");
      stats_file_->commit();
    }
  }

 private:
  Model load() {
    int& workers = options_.generation.options.workers;
    // With --stream, one worker gets all CPUs, because users watch one line at a time.
    const std::int64_t bytes = options_.stream ? 0 : input_.total_bytes().value_or(0);
    workers = options_.model.share_cpus(workers, bytes / kBytesPerWorker);
    Model model = options_.model.load_generator(options_.form);
    const GenerateOptions& generate = options_.generation.options;
    options_.model.check_languages(model, generate.source_lang, generate.target_lang);
    return model;
  }

  static std::unique_ptr<LineReader> open_if_named(const std::string& path) {
    return path.empty() ? nullptr : std::make_unique<LineReader>(path);
  }

  std::vector<LineReader*> readers() {
    std::vector<LineReader*> readers = {&input_, prefix_.get(), draft_.get()};
    std::erase(readers, nullptr);
    return readers;
  }

  void note_ignored_settings() const {
    const auto& ignored = model_.notes().ignored_settings;
    if (ignored.empty()) return;
    spdlog::warn("{}: generation settings {} are not supported and are ignored", options_.model.folder,
                 fmt::join(ignored, ", "));
  }

  GenerateOptions generate_options() {
    GenerateOptions options = with_tokens(options_.generation, model_, options_.form);
    if (!options_.json) options.num_return_sequences = 1;  // each input line has one output line
    if (attention_file_) options.attention = attention_file_->selection();
    if (streamer_) {
      options.on_token = [this](std::size_t source, std::int32_t token) {
        const MutexLock lock(mutex_);
        streamer_->push(source, token);
      };
    }
    options.on_progress = [this](const GenerateProgress& progress) {
      const MutexLock lock(mutex_);
      show(progress);
    };
    return options;
  }

  // Returns everything that a result depends on, except the source.
  nlohmann::ordered_json result_settings(const GenerateOptions& options) const {
    return {{"fingerprint", model_.fingerprint()},
            {"precision", to_string(model_.precision())},
            {"generation", to_json(model_.generation_config() | options)},
            {"source_lang", options.source_lang},
            {"target_lang", options.target_lang},
            {"max_source_tokens", options.max_source_tokens},
            {"truncates", options.long_sources != LongSources::error},
            {"token_ids", options_.form == LineForm::token_ids},
            {"json", options_.json},
            {"token_scores", options_.token_scores},
            {"top_log_probs", options.top_log_probs}};
  }

  std::optional<GenerateInput> next(Wait wait) override {
    if (wait == Wait::no && !may_read()) return std::nullopt;
    const Stopwatch stopwatch;
    std::string line, prefix, draft;
    const bool has_line = prefix_ ? lines_read_.next({&line, &prefix, &draft}) : lines_read_.next({&line, &draft});
    waiting_seconds_ += stopwatch.seconds();
    if (!has_line) return std::nullopt;
    GenerateInput input{.source = parse_line(std::move(line), options_.form, model_.config().input_stack().vocabulary,
                                             input_.position())};
    read_target(std::move(prefix), prefix_.get(), input.prefix);
    read_target(std::move(draft), draft_.get(), input.draft);
    const MutexLock lock(mutex_);
    unfinished_.push_back(input_.bytes());
    return input;
  }

  // Returns true if a line can be read without waiting. With --stream, also requires that few lines are unfinished.
  bool may_read() {
    if (streamer_) {
      const MutexLock lock(mutex_);
      const auto batch_size = static_cast<std::size_t>(options_.generation.options.batch_size);
      if (unfinished_.size() >= (batch_size > 0 ? batch_size : kStreamedLines)) return false;
    }
    return lines_read_.ready();
  }

  // Reads a prefix or a draft. An empty line leaves `target` unset.
  void read_target(std::string line, const LineReader* reader,
                   std::variant<std::monostate, std::string, TokenIds>& target) const {
    if (line.empty()) return;
    std::visit([&](auto tokens) { target = std::move(tokens); },
               parse_line(std::move(line), options_.form, model_.config().decoder.vocabulary, reader->position()));
  }

  void write(GenerateResult result) override {
    const MutexLock lock(mutex_);
    bar_.clear();
    if (streamer_) {
      streamer_->finish_line(format(result));
    } else {
      output_.write(format(result) + "\n");
      output_.flush();
    }
    ++lines_;
    if (result.source_truncated) ++truncated_;
    const Hypothesis& best = result.hypotheses.front();
    if (best.finish_reason == FinishReason::length && !is_chosen(best.token_ids.size())) ++cut_off_;
    finished_bytes_ = unfinished_.front();
    unfinished_.pop_front();
    if (attention_file_) attention_file_->write(result);
  }

  std::string format(const GenerateResult& result) const {
    if (options_.json) {
      return to_json(result, {.text = model_.tokenizer() != nullptr,
                              .token_scores = options_.token_scores || options_.generation.options.top_log_probs > 0,
                              .top_log_probs = options_.generation.options.top_log_probs > 0});
    }
    const Hypothesis& best = result.hypotheses.front();
    return options_.form == LineForm::text ? as_line(best.text) : format_token_ids(best.token_ids);
  }

  // Returns true if a result of `limit` tokens needs no warning: the user set that limit, or the model continues texts.
  bool is_chosen(std::size_t limit) const {
    const GenerateOptions& typed = options_.generation.options;
    if (typed.max_length_factor || !model_.config().has_encoder()) return true;
    return (typed.max_new_tokens || typed.max_length) && static_cast<int>(limit) + 1 >= new_token_limit(typed);
  }

  void show(const GenerateProgress& progress) ENCDEC_REQUIRES(mutex_) {
    stats_.work = progress;
    if (!bar_.due()) return;
    bar_.show({.fraction = input_.fraction(finished_bytes_),
               .lines = lines_,
               .tokens = static_cast<std::int64_t>(progress.generated_tokens)});
  }

  void end_early() {
    bar_.clear();
    if (streamer_) streamer_->break_line();
  }

  // Returns a note for an error message: where the partial output is. Empty if there is no partial output.
  std::string partial_output_note() const {
    const std::string partial = output_.partial_path();
    if (partial.empty()) return {};
    return fmt::format("; the output of the first {} lines is in {}", lines_, partial);
  }

  GenerateArguments options_;
  Stopwatch stopwatch_;
  LineReader input_;
  std::unique_ptr<LineReader> prefix_;
  std::unique_ptr<LineReader> draft_;
  ParallelLines lines_read_;  // lines of input_, and of *prefix_ and *draft_ if they are not null
  std::string output_path_;
  OutputFile output_;
  std::unique_ptr<OutputFile> stats_file_;
  std::optional<ShardManifest> manifest_;
  Model model_;
  std::optional<AttentionFile> attention_file_;
  std::optional<LineStreamer> streamer_;
  ProgressBar bar_ = ProgressBar::none();
  Stats stats_;
  double waiting_seconds_ = 0;  // time spent waiting for input

  Mutex mutex_;  // also protects output_ and streamer_
  // Input offsets at which lines end, for the lines that have been read but not yet written.
  std::deque<std::int64_t> unfinished_ ENCDEC_GUARDED_BY(mutex_);
  std::int64_t finished_bytes_ ENCDEC_GUARDED_BY(mutex_) = 0;  // input offset at which the last written line ends
  // These are changed under mutex_. After the last result, they are read without mutex_.
  std::int64_t lines_ = 0;      // lines written
  std::int64_t truncated_ = 0;  // lines written whose source was truncated
  std::int64_t cut_off_ = 0;    // lines written whose result reached a limit of the model
};

void add_options(CLI::App& command, GenerateArguments& options) {
  add_model_option(command, options.model.folder);
  add_input_option(command, options.input, "Sources in UTF-8, one per line");
  add_output_option(command, options.output, "Generated texts, one per line, in the order of the input");
  add_file_option(command, "--prefix-file", options.prefix,
                  "Prefixes of the results: line N for source N, an empty line for none");
  add_file_option(command, "--draft-file", options.draft,
                  "Drafts of the results, such as earlier translations: line N for source N, an empty line for none. "
                  "Correct drafts make search without beams faster; results never change");
  add_token_ids_option(command, options.form, "Lines are");
  command.add_flag("--json", options.json, "Write one JSON object per line: texts, token ids and scores");
  command.add_flag("--token-scores", options.token_scores, "Also write each token's log-probability; needs --json");
  GenerateOptions& generate = options.generation.options;
  command.add_flag("--stream", options.stream, "Write each part of a line to standard output as soon as it is final");
  add_generation_options(command, options.generation);
  add_batch_size_option(command, generate.batch_size);
  options.model.add_load_options(command);
  options.model.add_draft_options(command);
  options.model.add_workers_option(command, generate.workers);
  command
      .add_option_function<std::string>(
          "--shard", [&options](const std::string& text) { options.shard = parse_shard(text); },
          "Process part I of N of the input, so that N processes can share it. Writes OUTPUT-0000I-of-0000N and, when "
          "it is complete, its .json; a rerun skips complete parts. `cat OUTPUT-*-of-0000N` gives the whole output")
      ->type_name("I/N");
  add_file_option(command, "--stats", options.stats,
                  "Write times, token counts and memory to this file, as a JSON object");
  add_file_option(
      command, "--attention", options.attention,
      "Write the attention of each result to this file: weights (.json), otherwise hard alignments (0-0 1-2: "
      "pairs of source and target token). Costs one more pass over each result");
  add_attention_choices(command, "--attention-layer", "--attention-head", options.attention_choices);
  options.model.add_quiet_option(command, "No progress bar and no notes");
}

// Throws UsageError for options that exclude each other.
void check(const GenerateArguments& options) {
  const GenerateOptions& generate = options.generation.options;
  if (options.attention.empty() && (options.attention_choices.layers || options.attention_choices.heads)) {
    throw UsageError("--attention-layer or --attention-head without --attention, expected a file for them");
  }
  const auto is_each = [](const std::optional<AttentionChoice>& choice) {
    return choice && choice->of == AttentionChoice::Of::each;
  };
  const AttentionFormat format = attention_format(options.attention);
  if (format == AttentionFormat::alignment &&
      (is_each(options.attention_choices.layers) || is_each(options.attention_choices.heads))) {
    throw UsageError(fmt::format("--attention {}: all layers or heads, expected one or mean: a line has one alignment",
                                 options.attention));
  }
  if (format == AttentionFormat::svg || format == AttentionFormat::unknown) {
    throw UsageError(
        fmt::format("--attention {}: expected .json or a file for alignments; encdec attention draws pictures (.svg)",
                    options.attention));
  }
  // A shard needs named files. Only --input and --output can be split into shards.
  if (options.shard.number > 0) {
    if (options.input.empty() || options.output.empty()) {
      throw UsageError("--shard without --input or --output, expected both: other processes do the other parts");
    }
    if (!options.prefix.empty() || !options.draft.empty() || !options.attention.empty()) {
      throw UsageError(
          "--shard with --prefix-file, --draft-file or --attention, expected none of them: they cannot be split");
    }
  }
  if (options.stream && options.json) throw UsageError("--stream and --json, expected one of them");
  if (options.stream && !options.output.empty()) {
    throw UsageError("--stream and --output, expected one of them: a file gets only whole lines");
  }
  if (!options.json && generate.num_return_sequences.value_or(1) > 1) {
    throw UsageError(fmt::format("--num-return-sequences is {}, expected --json with it: a line of text has one result",
                                 *generate.num_return_sequences));
  }
  if (!options.json && (options.token_scores || generate.top_log_probs > 0)) {
    throw UsageError(
        fmt::format("{} without --json, expected both", options.token_scores ? "--token-scores" : "--top-log-probs"));
  }
}

}  // namespace

Action add_generate(CLI::App& command) {
  const auto options = std::make_shared<GenerateArguments>();
  add_options(command, *options);
  command.footer(
      R"(Defaults come from the checkpoint's generation_config.json. An empty input line gives an empty output line.
Lines may end with CR LF. If input arrives slowly, results are written while the command waits for more. Output is
written to FILE.XXXXXX.partial, which is renamed to FILE when it is complete and kept after a failure. If the reader of
standard output closes it, the command ends with status 1 and no message.)");
  return [options] {
    check(*options);
    Generation(*options).run();
  };
}

}  // namespace encdec::cli

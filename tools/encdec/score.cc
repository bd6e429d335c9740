#include <encdec/engine/error.h>
#include <encdec/models/model.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <span>

#include "commands.h"
#include "interrupt.h"
#include "line_reader.h"
#include "load_model.h"
#include "options.h"
#include "output_file.h"
#include "paired_lines.h"
#include "progress_bar.h"
#include "result_json.h"
#include "text.h"
#include "token_ids.h"
#include "token_lookup.h"

namespace encdec::cli {
namespace {

// Lines that go to the model in one call: enough to put those of like length into one batch, and few enough to hold
// and to stop between.
constexpr std::size_t kWindowLines = 64;
constexpr std::int64_t kWindowBytes = std::int64_t{1} << 20;

struct ScoreArguments {
  std::string model;
  std::string input;
  std::string target;
  std::string output;
  ScoreOptions score;
  int threads = 0;
  Precision precision = Precision::float32;
  std::string weights_cache;
  bool token_ids = false;
  bool quiet = false;
};

// Consecutive pairs of lines: those that there is something to score of, as texts or as ids with --token-ids.
struct Window {
  std::vector<std::string> sources, targets;
  std::vector<TokenIds> source_ids, target_ids;
  std::vector<std::string> answers;  // of all pairs in order; empty where the model gives it
  std::exception_ptr failure;        // why the pair after these cannot be read: told when they are done

  std::size_t size() const { return std::max(sources.size(), source_ids.size()); }
};

class Scoring {
 public:
  explicit Scoring(const ScoreArguments& options)
      : options_(options),
        input_(options.input),
        target_(options.target),
        lines_(input_, target_),
        output_(options.output),
        model_(load_model(
            options.model,
            {.threads = options.threads, .precision = options.precision, .packed_weights_cache = options.weights_cache},
            options.quiet ? Notes::hide : Notes::show)) {
    check_lines_can_be_read(model_, options.token_ids ? LineForm::token_ids : LineForm::text, options.model);
  }

  void run() {
    ProgressBar bar = options_.quiet ? ProgressBar::hidden() : ProgressBar();
    for (;;) {
      const Window window = read_window();
      bar.clear();
      write(window);
      if (window.failure) std::rethrow_exception(window.failure);
      if (window.answers.empty()) break;
      bar.show(progress());
      throw_if_interrupted();
    }
    bar.clear();
    output_.commit();
  }

 private:
  // Up to a full window, or what has arrived where the rest would have to be waited for. Empty at the end.
  Window read_window() {
    Window window;
    const std::size_t limit = std::max(kWindowLines, static_cast<std::size_t>(options_.score.batch_size));
    const std::int64_t end = input_.bytes() + target_.bytes() + kWindowBytes;
    try {
      std::string source, target;
      while (window.answers.size() < limit && input_.bytes() + target_.bytes() < end &&
             (window.answers.empty() || lines_.ready()) && lines_.next(source, target)) {
        options_.token_ids ? add_ids(source, target, window) : add_texts(source, target, window);
      }
    } catch (const Error&) {
      window.failure = std::current_exception();
    }
    return window;
  }

  void add_texts(const std::string& source, const std::string& target, Window& window) const {
    check_utf8(source, input_.position());
    check_utf8(target, target_.position());
    if (source.empty()) {
      window.answers.emplace_back(kNoSource);
      return;
    }
    window.sources.push_back(source);
    window.targets.push_back(target);
    window.answers.emplace_back();
  }

  void add_ids(const std::string& source, const std::string& target, Window& window) const {
    TokenIds source_ids = parse_token_ids(source, model_.config().input_stack().vocabulary, input_.position());
    TokenIds target_ids = parse_token_ids(target, model_.config().decoder.vocabulary, target_.position());
    if (source_ids.empty()) {
      window.answers.emplace_back(kNoSource);
      return;
    }
    window.source_ids.push_back(std::move(source_ids));
    window.target_ids.push_back(std::move(target_ids));
    window.answers.emplace_back();
  }

  // Pairs [first, first + count) of those that there is something to score of.
  std::vector<ScoreResult> score(const Window& window, std::size_t first, std::size_t count) const {
    if (options_.token_ids) {
      return model_.score_ids(std::span(window.source_ids).subspan(first, count),
                              std::span(window.target_ids).subspan(first, count), options_.score);
    }
    const auto part = [&](const std::vector<std::string>& lines) {
      const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    return model_.score(part(window.sources), part(window.targets), options_.score);
  }

  void write(const Window& window) {
    std::vector<ScoreResult> results;
    try {
      results = score(window, 0, window.size());
    } catch (const InputError&) {
      write_one_by_one(window);  // up to the pair that is wrong, which gets its line number
      throw;
    }
    std::size_t scored = 0;
    for (const std::string& answer : window.answers) write(answer.empty() ? to_json(results[scored++]) : answer);
    output_.flush();
    for (const ScoreResult& result : results) tokens_ += static_cast<std::int64_t>(result.token_scores.size());
  }

  void write_one_by_one(const Window& window) {
    std::size_t scored = 0;
    for (const std::string& answer : window.answers) {
      try {
        write(answer.empty() ? to_json(score(window, scored++, 1).front()) : answer);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}:{}: {}", input_.name(), written_ + 1, error.what()));
      }
    }
  }

  void write(const std::string& answer) {
    output_.write(answer + "\n");
    ++written_;
  }

  Progress progress() const {
    return {.fraction = input_.fraction(input_.bytes()), .lines = written_, .tokens = tokens_};
  }

  // Where there is nothing to generate from, no target is likely or unlikely.
  static constexpr const char* kNoSource = R"({"score":null,"token_scores":[]})";

  const ScoreArguments& options_;
  LineReader input_;
  LineReader target_;
  PairedLines lines_;
  OutputFile output_;
  Model model_;
  std::int64_t written_ = 0;  // lines
  std::int64_t tokens_ = 0;
};

}  // namespace

Action add_score(CLI::App& command) {
  const auto options = std::make_shared<ScoreArguments>();
  add_model_option(command, options->model);
  add_input_option(command, options->input, "Sources, one a line, in UTF-8");
  command.add_option("--target", options->target, "Targets, one a line, each for the source of the same line")
      ->required()
      ->type_name("FILE");
  add_output_option(command, options->output, "One JSON object a line: score and token_scores");
  command.add_flag("--token-ids", options->token_ids,
                   "Lines are token ids separated by spaces, used exactly as given; needs no tokenizer");
  add_language_options(command, options->score.source_lang, options->score.target_lang);
  add_batch_size_option(command, options->score.batch_size);
  add_threads_option(command, options->threads);
  add_precision_option(command, options->precision);
  add_weights_cache_option(command, options->weights_cache);
  command.add_flag("--quiet", options->quiet, "No progress bar on standard error");
  command.footer(
      "A score is the sum of the target tokens' log-probabilities, natural logarithms, the end token's included. "
      "Where a\n"
      "source is empty it is null. Of an empty target the end token alone is scored; with --token-ids nothing is, and "
      "the\n"
      "score is 0.");
  return [options] { Scoring(*options).run(); };
}

}  // namespace encdec::cli

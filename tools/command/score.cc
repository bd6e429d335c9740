#include <encdec/engine/base/error.h>
#include <encdec/models/model.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "command/commands.h"
#include "command/line_reader.h"
#include "command/lines.h"
#include "command/options.h"
#include "command/output_file.h"
#include "command/progress_bar.h"
#include "command/result_json.h"

namespace encdec::cli {
namespace {

// Limits of a group: the number of pairs, and the bytes after which no pair is added. A group must be large enough to
// batch pairs of similar length, and small enough to fit into memory and to stop soon after a signal.
constexpr std::size_t kGroupLines = 64;
constexpr std::int64_t kGroupBytes = std::int64_t{1} << 20;

struct ScoreArguments {
  ModelArguments model;
  std::string input;
  std::string target;
  std::string output;
  ScoreOptions score;
  LineForm form = LineForm::text;
};

// Consecutive pairs of lines that are scored in one call.
struct PairGroup {
  std::vector<LineTokens> sources, targets;  // pairs to score: all pairs whose source is not empty
  std::vector<std::string> output_lines;     // output line of each pair; empty if the pair must be scored
  std::exception_ptr failure;                // error while reading the next pair; thrown after this group is written
};

// Returns lines [first, first + count). REQUIRES: all of them have the type Form.
template <class Form>
std::vector<Form> part_of(const std::vector<LineTokens>& lines, std::size_t first, std::size_t count) {
  std::vector<Form> part;
  for (std::size_t i = first; i < first + count; ++i) part.push_back(std::get<Form>(lines[i]));
  return part;
}

class Scoring {
 public:
  explicit Scoring(const ScoreArguments& options)
      : options_(options),
        input_(options.input),
        target_(options.target),
        lines_({&input_, &target_}),
        output_(options.output),
        model_(options.model.load_generator(options.form)) {
    options.model.check_languages(model_, options.score.source_lang, options.score.target_lang);
  }

  void run() {
    options_.model.note_typed_input(options_.input);
    ProgressBar bar = options_.model.quiet ? ProgressBar::none() : ProgressBar();
    for (;;) {
      const PairGroup group = read_group();
      bar.clear();
      write(group);
      if (group.failure) std::rethrow_exception(group.failure);
      if (group.output_lines.empty()) break;
      bar.show({.fraction = input_.fraction(input_.bytes()), .lines = written_, .tokens = tokens_});
    }
    bar.clear();
    output_.commit();
  }

 private:
  // Waits for a pair, and adds the pairs that have already arrived. Returns an empty group at the end of the input.
  PairGroup read_group() {
    PairGroup group;
    const std::size_t limit = std::max(kGroupLines, static_cast<std::size_t>(options_.score.batch_size));
    const std::int64_t end = input_.bytes() + target_.bytes() + kGroupBytes;
    try {
      std::string source, target;
      while (group.output_lines.size() < limit && input_.bytes() + target_.bytes() < end &&
             (group.output_lines.empty() || lines_.ready()) && lines_.next({&source, &target})) {
        add(source, target, group);
      }
    } catch (const Error&) {
      group.failure = std::current_exception();
    }
    return group;
  }

  void add(const std::string& source, const std::string& target, PairGroup& group) const {
    const TransformerConfig& config = model_.config();
    LineTokens from = parse_line(source, options_.form, config.input_stack().vocabulary, input_.position());
    LineTokens to = parse_line(target, options_.form, config.decoder.vocabulary, target_.position());
    const bool is_empty = std::visit([](const auto& tokens) { return tokens.empty(); }, from);
    group.output_lines.emplace_back(is_empty ? kNoSource : "");
    if (is_empty) return;
    group.sources.push_back(std::move(from));
    group.targets.push_back(std::move(to));
  }

  // Scores pairs [first, first + count) of group.sources and group.targets.
  std::vector<ScoreResult> score(const PairGroup& group, std::size_t first, std::size_t count) const {
    if (options_.form == LineForm::token_ids) {
      return model_.score_ids(part_of<TokenIds>(group.sources, first, count),
                              part_of<TokenIds>(group.targets, first, count), options_.score);
    }
    return model_.score(part_of<std::string>(group.sources, first, count),
                        part_of<std::string>(group.targets, first, count), options_.score);
  }

  void write(const PairGroup& group) {
    std::vector<ScoreResult> results;
    try {
      results = score(group, 0, group.sources.size());
    } catch (const InputError&) {
      write_one_by_one(group);  // writes the results before the invalid pair, then throws with that pair's line number
      throw;
    }
    std::size_t scored = 0;
    for (const std::string& line : group.output_lines) write(line.empty() ? to_json(results[scored++]) : line);
    output_.flush();
    for (const ScoreResult& result : results) tokens_ += static_cast<std::int64_t>(result.token_scores.size());
  }

  void write_one_by_one(const PairGroup& group) {
    std::size_t scored = 0;
    for (const std::string& line : group.output_lines) {
      try {
        write(line.empty() ? to_json(score(group, scored++, 1).front()) : line);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}:{}: {}", input_.name(), written_ + 1, error.what()));
      }
    }
  }

  void write(const std::string& line) {
    output_.write(line + "\n");
    ++written_;
  }

  // The output line for a pair with an empty source. No probability is defined for the target.
  static constexpr const char* kNoSource = R"({"score":null,"token_scores":[]})";

  const ScoreArguments& options_;
  LineReader input_;
  LineReader target_;
  ParallelLines lines_;
  OutputFile output_;
  Model model_;
  std::int64_t written_ = 0;  // lines written
  std::int64_t tokens_ = 0;
};

}  // namespace

Action add_score(CLI::App& command) {
  const auto options = std::make_shared<ScoreArguments>();
  add_model_option(command, options->model.folder);
  add_input_option(command, options->input, "Sources in UTF-8, one per line");
  add_file_option(command, "--target", options->target, "Targets, one per line: line N is scored for source N")
      ->required();
  add_output_option(command, options->output, "One JSON object per line: score and token_scores");
  add_token_ids_option(command, options->form, "Lines are");
  add_language_options(command, options->score.source_lang, options->score.target_lang);
  add_batch_size_option(command, options->score.batch_size);
  options->model.add_load_options(command);
  options->model.add_quiet_option(command, "No progress bar");
  command.footer(
      R"(The score is the sum of the natural log-probabilities of the target's tokens, end token included. The score is null if
the source is empty. For an empty target only the end token is scored; with --token-ids no token is scored and the score
is 0.)");
  return [options] { Scoring(*options).run(); };
}

}  // namespace encdec::cli

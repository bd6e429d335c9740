#include "command/options.h"

#include <encdec/engine/base/error.h>
#include <encdec/engine/thread_team.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "command/commands.h"
#include "command/output_file.h"
#include "encdec/engine/base/machine.h"

namespace encdec::cli {
namespace {

// Returns true if the command writes the option's file. The command reads the files of all other options.
bool is_written(const CLI::Option& option) {
  constexpr std::string_view kWritten[] = {"--output", "--stats", "--attention", "--profile", "--report"};
  return std::ranges::find(kWritten, option.get_name()) != std::end(kWritten);
}

}  // namespace

CLI::Option* add_model_option(CLI::App& command, std::string& folder) {
  return add_value_option(
             command, "-m,--model", folder, "DIR",
             "Checkpoint folder, as published, or OWNER/NAME on the Hugging Face hub, from the local cache")
      ->required();
}

void add_input_option(CLI::App& command, std::string& path, const std::string& content) {
  add_file_option(command, "-i,--input", path, content + "; standard input if not given");
}

void add_output_option(CLI::App& command, std::string& path, const std::string& content) {
  add_file_option(command, "-o,--output", path, content + "; standard output if not given");
}

void add_token_ids_option(CLI::App& command, LineForm& form, const std::string& lines) {
  command.add_flag_callback(
      "--token-ids", [&form] { form = LineForm::token_ids; },
      lines + " token ids separated by spaces, used exactly as given; needs no tokenizer");
}

void add_language_options(CLI::App& command, std::string& source, std::string& target) {
  add_value_option(command, "--source-lang", source, "LANG",
                   "Language of the sources, as the checkpoint spells it: eng_Latn, en_XX, en");
  add_value_option(command, "--target-lang", target, "LANG", "Language of the targets, in the same spelling");
}

void add_batch_size_option(CLI::App& command, int& batch_size) {
  add_number_option(command, "--batch-size", batch_size, 0, kMaxBatchSize,
                    "Inputs computed together; 0: chosen for this machine. Results do not depend on it");
}

void add_backend_option(CLI::App& command, std::optional<BackendChoice>& backend) {
  add_words_option(
      command, "--backend", kBackendNames, backend,
      "Kernels of matrix products; auto: the faster of oneDNN's and encdec's own. Default: ENCDEC_BACKEND, else auto");
}

void ModelArguments::add_load_options(CLI::App& command) {
  add_number_option(command, "--threads", load_options.threads, 0, kMaxThreads,
                    "Threads of one operation; 0: ENCDEC_THREADS or OMP_NUM_THREADS, else one per available CPU");
  add_words_option(command, "--precision", kPrecisionNames, load_options.precision,
                   "Precision of weights and matrix products; auto: the fastest whose results stay close to float32")
      ->default_str(std::string(to_string(load_options.precision)));
  add_backend_option(command, load_options.backend);
  add_value_option(command, "--weights-cache", load_options.packed_weights_cache, "DIR",
                   "Folder that caches packed weights: the first load writes them, later loads read them");
}

void ModelArguments::add_draft_options(CLI::App& command) {
  CLI::Option* option = command.add_option_function<std::string>(
      "--draft-precision", [this](const std::string& name) { load_options.draft_precision = precision_named(name); },
      "Use a copy of the decoder in this lower precision as draft model. The model verifies several draft tokens in "
      "one step: search without beams is faster, results never change");
  take_words(option, {"bfloat16", "int8", "int4"})->group("Speculative decoding");
  add_value_option(command, "--draft-model", load_options.draft_model, "DIR",
                   "Use another checkpoint as draft model: a smaller one with the same vocabulary")
      ->group("Speculative decoding");
}

void ModelArguments::note_unused_drafts(int beams, bool has_text) const {
  const bool has_drafts = has_text || load_options.draft_precision || !load_options.draft_model.empty();
  if (!has_drafts || beams <= 1 || quiet) return;
  spdlog::info("no draft tokens are used: search with {} beams does not support them", beams);
}

void ModelArguments::add_quiet_option(CLI::App& command, const std::string& description) {
  command.add_flag("--quiet", quiet, description + " on standard error");
}

void ModelArguments::add_workers_option(CLI::App& command, int& workers) {
  workers = 0;
  add_number_option(
      command, "--workers", workers, 0, kMaxThreads,
      "Batches computed in parallel, each with --threads or an equal share of the CPUs; 0: chosen for the "
      "input and this machine. Results do not depend on it");
}

int ModelArguments::share_cpus(int workers, std::int64_t busy) {
  if (load_options.threads != 0) return std::max(workers, 1);
  const int cpus = default_threads();
  if (workers == 0) workers = static_cast<int>(std::clamp<std::int64_t>(busy, 1, cpus));
  load_options.threads = std::max(1, cpus / workers);
  return workers;
}

Model ModelArguments::load() const {
  Model model = Model::load(folder, load_options);
  if (quiet) return model;
  const ModelNotes& notes = model.notes();
  if (!notes.precision.empty()) spdlog::info("{}: {}", folder, notes.precision);
  if (!notes.weights.empty()) spdlog::warn("{}: {}", folder, without_controls(notes.weights));
  const std::string& cache = load_options.packed_weights_cache.native();
  for (const std::string& note : notes.lines) {
    if (!cache.empty() && note.starts_with(cache)) spdlog::warn("{}", without_controls(note));
  }
  return model;
}

Model ModelArguments::load_text_model() const {
  Model model = load();
  if (model.config().source_kind() == SourceKind::tokens) return model;
  throw ConfigError(
      fmt::format("{}: {} is a speech model, expected encdec transcribe", folder, model.config().model_type));
}

void ModelArguments::check_form(const Model& model, LineForm form) const {
  if (form == LineForm::token_ids || model.tokenizer() != nullptr) return;
  throw TokenizerError(fmt::format("{}: no tokenizer files, expected token ids with --token-ids", folder));
}

Model ModelArguments::load_for(LineForm form) const {
  Model model = load_text_model();
  check_form(model, form);
  return model;
}

Model ModelArguments::load_generator(LineForm form) const {
  Model model = load_text_model();
  if (const TransformerConfig& config = model.config(); !config.has_decoder()) {
    throw ConfigError(fmt::format("{}: {} {}, expected encdec {}", folder, config.model_type,
                                  config.why_not_generative(), config.head.classifies() ? "classify or tag" : "embed"));
  }
  check_form(model, form);
  return model;
}

void ModelArguments::check_languages(const Model& model, const std::string& source, const std::string& target) const {
  if (source.empty() && target.empty()) return;
  if (model.tokenizer() != nullptr && !model.tokenizer()->languages().empty()) return;
  throw ConfigError(
      fmt::format("{}: the model has no language codes, expected neither --source-lang nor --target-lang", folder));
}

void ModelArguments::note_typed_input(const std::string& path) const {
  if (!quiet && path.empty() && ::isatty(STDIN_FILENO) == 1) {
    spdlog::info("reading lines from the terminal; Ctrl-D on an empty line ends the input");
  }
}

bool are_one_file(const std::string& path, const std::string& other) {
  if (path.empty() || other.empty()) return false;
  if (path == other) return true;
  std::error_code unknown;  // ignored, because opening the file reports the error
  const auto file = std::filesystem::weakly_canonical(std::filesystem::absolute(path), unknown);
  return !unknown && file == std::filesystem::weakly_canonical(std::filesystem::absolute(other), unknown) && !unknown;
}

void check_files(const CLI::App& command) {
  // Collect the files of all options. With --shard, skip --output: the command writes OUTPUT-0000I-of-0000N instead.
  using File = std::pair<std::string, std::string>;  // option and path
  std::vector<File> read = {{"standard input", "/dev/stdin"}}, written;
  const CLI::Option* shard = command.get_option_no_throw("--shard");
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (name != "FILE" && option->get_type_name().find("FILE") == std::string::npos) continue;
    if (name == "--output" && shard != nullptr && shard->count() > 0) continue;
    for (const std::string& path : option->results()) (is_written(*option) ? written : read).emplace_back(name, path);
  }
  for (auto one = written.begin(); one != written.end(); ++one) {
    for (auto other = one + 1; other != written.end(); ++other) {
      if (!are_one_file(one->second, other->second)) continue;
      throw UsageError(fmt::format("{} and {} name the same file, expected different files", one->first, other->first));
    }
    const auto id = file_id(one->second);
    for (const auto& [name, path] : read) {
      if (!id || file_id(path) != id) continue;
      // `generate` may replace its input file by its output.
      const bool is_meant = name == "--input" && path == one->second && command.get_name() == "generate";
      if (is_meant && one->first == "--output") continue;
      throw UsageError(fmt::format("{} {}: the same file as {}, which would be lost; expected another", one->first,
                                   one->second, name));
    }
  }
}

CLI::Validator integer_from(std::int64_t min, std::int64_t max) {
  return expecting(fmt::format("an integer from {} to {}", min, max), [min, max](std::string_view text) {
    const auto value = parse_number<std::int64_t>(text);
    return value && *value >= min && *value <= max;
  });
}

CLI::Validator token_id_list() {
  return expecting("token ids separated by spaces", [](std::string_view text) {
    try {
      return !parse_token_ids(text, std::numeric_limits<std::int32_t>::max(), {}).empty();
    } catch (const InputError&) {
      return false;
    }
  });
}

}  // namespace encdec::cli

#include <encdec/models/checkpoint/mapped_file.h>
#include <encdec/translation/text/language.h>
#include <encdec/translation/translate_file.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "arguments/arguments.h"
#include "command/commands.h"
#include "command/interrupt.h"
#include "command/option_rows.h"
#include "command/options.h"
#include "command/output_file.h"
#include "command/progress_bar.h"
#include "slice.h"

namespace encdec::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct TranslateArguments {
  std::vector<std::string> files = {}, folders = {};
  ModelArguments model;
  TranslateFileOptions options;
  std::string output = {}, output_dir = {}, report = {};
  std::vector<std::string> glossaries = {}, kept_words = {};
  int line_width = 0;
  bool lists_routes = false;
};

// The loaded models, and the routes between their languages.
struct LoadedModels {
  std::vector<Model> all = {};
  TranslationRoutes routes = {};
};

// Loads the models. If the languages of a single model are unknown, uses the languages in the options.
LoadedModels load_models(TranslateArguments& arguments) {
  LoadedModels models;
  for (const std::string& folder : arguments.folders) {
    arguments.model.folder = folder;
    Model model = arguments.model.load_generator(LineForm::text);
    ModelLanguages languages = ModelLanguages::of(model, folder);
    if (languages.sources.empty()) {
      TranslateOptions& translate = arguments.options.translate;
      if (arguments.folders.size() > 1) {
        throw ConfigError(
            fmt::format("{}: its languages are unknown, expected a folder whose files or name give them, such "
                        "as opus-mt-en-fr",
                        folder));
      }
      if (translate.source.empty()) translate.source = "und";
      if (translate.target.empty()) translate.target = "mul";
      languages.sources.emplace(canonical_language(translate.source), "");
      languages.targets.emplace(canonical_language(translate.target), "");
    }
    models.routes.add(std::move(languages));
    models.all.push_back(std::move(model));
  }
  return models;
}

// If the target language is missing, sets it to the only language that the models translate to. Throws UsageError if
// they translate to several languages.
void choose_target(const TranslationRoutes& routes, TranslateOptions& translate) {
  if (!translate.target.empty()) return;
  const std::vector<std::string> targets =
      translate.source.empty() ? routes.targets() : routes.targets(canonical_language(translate.source));
  if (targets.size() != 1) {
    throw UsageError(fmt::format("--target-lang is missing, expected one of {}", fmt::join(targets, ", ")));
  }
  translate.target = targets.front();
}

std::shared_ptr<const Glossary> read_glossary(const TranslateArguments& arguments) {
  if (arguments.glossaries.empty() && arguments.kept_words.empty()) return nullptr;
  auto glossary = std::make_shared<Glossary>();
  for (const std::string& file : arguments.glossaries)
    glossary->parse(read_text_file(file, Glossary::kMaxFileBytes), file);
  for (const std::string& file : arguments.kept_words) {
    glossary->parse_kept(read_text_file(file, Glossary::kMaxFileBytes), file);
  }
  return glossary;
}

void list_routes(const TranslationRoutes& routes) {
  for (const std::string& source : routes.sources()) {
    for (const std::string& target : routes.targets(source)) {
      fmt::print("{}\n", fmt::join(languages_of(routes.find(source, target)), " "));
    }
  }
}

// Translates all files, one after another.
class Files {
 public:
  explicit Files(TranslateArguments& arguments) : arguments_(arguments), models_(load_models(arguments)) {
    choose_target(models_.routes, arguments.options.translate);
    arguments.options.document.target_language = canonical_language(arguments.options.translate.target);
    arguments.options.translate.glossary = read_glossary(arguments);
    if (arguments.model.quiet) bar_ = ProgressBar::none();
    arguments.options.on_progress = [this](std::size_t done, std::size_t total) {
      throw_if_interrupted();
      const double part = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
      const double files = static_cast<double>(arguments_.files.size());
      bar_.show({.fraction = (static_cast<double>(number_) + part) / files,
                 .lines = static_cast<std::int64_t>(finished_ + done)});
      total_ = total;
    };
  }

  void run() {
    check_outputs();
    std::optional<OutputFile> report;
    if (!arguments_.report.empty()) report.emplace(arguments_.report, OutputFile::Unfinished::remove);
    Json reports = Json::array();
    for (; number_ < arguments_.files.size(); ++number_) {
      const std::string& file = arguments_.files[number_];
      Json segments;
      const std::string output = output_of(file);
      translate(file, output, segments);
      bar_.clear();
      finished_ += std::exchange(total_, 0);
      note_problems(file, segments);
      reports.push_back({{"file", file}, {"output", output}, {"segments", std::move(segments)}});
    }
    if (cut_off_ > 0) spdlog::warn("{}; texts like this: {}", first_cut_off_, cut_off_);
    if (!report) return;
    report->write(reports.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    report->commit();
  }

 private:
  // Returns the path of the translation of a file, or an empty path for standard output.
  std::string output_of(const std::string& file) const {
    if (arguments_.output_dir.empty()) return arguments_.output;
    return fs::path(arguments_.output_dir) / translated_name(file, arguments_.options.document.target_language);
  }

  // Throws UsageError if an output would replace another output, the report or an input.
  void check_outputs() const {
    std::map<std::string, std::string> files;
    for (const std::string& file : arguments_.files) {
      const auto [entry, is_new] = files.try_emplace(output_of(file), file);
      if (is_new) continue;
      throw UsageError(fmt::format("{} and {} would both become {}, expected files with different names", entry->second,
                                   file, entry->first));
    }
    for (const auto& [output, source] : files) {
      if (are_one_file(output, arguments_.report)) {
        throw UsageError(fmt::format("--report names the translation of {}, expected another file", source));
      }
      const auto id = file_id(output);
      for (const std::string& file : arguments_.files) {
        if (!id || file_id(file) != id) continue;
        throw UsageError(fmt::format("the translation of {} would replace {}, expected another folder", source, file));
      }
    }
  }

  void translate(const std::string& file, const std::string& output, Json& report) {
    TranslateFileOptions options = arguments_.options;
    if (!output.empty() && file != "-" && !is_written_directly(output)) {
      return translate_file(file, output, models_.all, models_.routes, options, &report);
    }
    OutputFile to(output);
    std::string bytes;
    if (file == "-") {
      for (std::istreambuf_iterator<char> next(std::cin); next != std::istreambuf_iterator<char>(); ++next) {
        if (bytes.size() == kMaxDocumentBytes)
          throw FileError(fmt::format("standard input: more than {} bytes, expected fewer", kMaxDocumentBytes));
        bytes += *next;
      }
      if (!options.format) options.format = DocumentFormat::text;
    } else {
      bytes = read_text_file(file, kMaxDocumentBytes);
    }
    to.write(translate_document(std::move(bytes), file == "-" ? "standard input" : file, models_.all, models_.routes,
                                options, &report));
    to.commit();
  }

  // Warns about unused translations and missing terms. Only counts truncated translations: run() prints one warning
  // about all of them.
  void note_problems(const std::string& file, const Json& segments) {
    if (arguments_.model.quiet) return;
    for (const Json& segment : segments) {
      const std::string where = fmt::format("{}: {}", file, segment["where"].get<std::string>());
      const std::string problem = segment.value("problem", "");
      if (problem == kCutOff) {
        if (++cut_off_ == 1) first_cut_off_ = fmt::format("{}: {}", where, problem);
      } else if (!problem.empty()) {
        spdlog::warn("{}: {}", where, problem);
        continue;  // the translation is not used, so missing terms do not matter
      }
      if (!segment.contains("terms")) continue;
      for (const Json& term : segment["terms"]) {
        if (term["method"] != "failed") continue;
        spdlog::warn("{}: '{}' is not in the translation, expected it for '{}'", where,
                     term["target"].get<std::string>(), term["source"].get<std::string>());
      }
    }
  }

  TranslateArguments& arguments_;
  LoadedModels models_;
  ProgressBar bar_;
  std::size_t number_ = 0;                // index of the current file
  std::size_t finished_ = 0, total_ = 0;  // number of segments in finished files and in the current file
  std::size_t cut_off_ = 0;               // number of segments with the problem kCutOff
  std::string first_cut_off_ = {};        // position and problem of the first such segment
};

void run(TranslateArguments& arguments) {
  // Treat a folder among the files as a model: in "--model a b", b is the second model.
  std::vector<std::string>& files = arguments.files;
  const auto folders = std::stable_partition(files.begin(), files.end(), [](const std::string& file) {
    std::error_code unknown;  // ignored here: reading the file reports the error
    return !fs::is_directory(file, unknown);
  });
  arguments.folders.insert(arguments.folders.end(), folders, files.end());
  files.erase(folders, files.end());
  if (arguments.lists_routes) return list_routes(load_models(arguments).routes);
  if (arguments.files.empty()) arguments.files.emplace_back("-");
  if (arguments.files.size() > 1 && arguments.output_dir.empty()) {
    throw UsageError(fmt::format("{} files, expected --output-dir for several", arguments.files.size()));
  }
  std::error_code failure;
  if (!arguments.output_dir.empty()) fs::create_directories(arguments.output_dir, failure);
  if (failure) throw FileError(fmt::format("{}: {}", arguments.output_dir, failure.message()));
  if (arguments.line_width > 0) {
    arguments.options.document.line_width = static_cast<std::size_t>(arguments.line_width);
  }
  GenerateOptions& generate = arguments.options.translate.generate;
  constexpr std::int64_t kBusyWorkers = 64;  // assumes that there are always enough sentences
  generate.workers = arguments.model.share_cpus(generate.workers, kBusyWorkers);
  Files(arguments).run();
}

Action add_translate(CLI::App& command) {
  const auto arguments = std::make_shared<TranslateArguments>();
  TranslateFileOptions& options = arguments->options;
  add_value_option(command, "FILE", arguments->files, "", "Files to translate; - or none: standard input");
  command.add_option("-m,--model", arguments->folders, "Checkpoint folder; several are used together")
      ->required()
      ->allow_extra_args(false)  // so that files may follow the folder
      ->type_name("DIR");
  add_value_option(command, "--source-lang,--from", options.translate.source, "LANG",
                   "Language of the files; detected by default");
  add_value_option(command, "--target-lang,--to", options.translate.target, "LANG",
                   "Language of the translations; required if the models reach several");
  add_value_option(command, "--via", options.translate.via, "LANG",
                   "Pivot language between two models; never: use one model only. "
                   "Default: none if possible, else English, else any");
  add_words_option(command, "--format", kDocumentFormats, options.format,
                   "Format of the files. Default: by their extension");
  add_words_option(command, "--split", kSplits, options.translate.split, "What to translate at a time")
      ->default_str("sentences");
  add_value_option(command, "--glossary", arguments->glossaries, "FILE",
                   "Terms and translations: lines of TERM<TAB>TRANSLATION, or a .csv; may be repeated")
      ->allow_extra_args(false);
  add_value_option(command, "--do-not-translate", arguments->kept_words, "FILE",
                   "Terms to leave untranslated, one per line; may be repeated")
      ->allow_extra_args(false);
  CLI::Option* output = add_file_option(command, "-o,--output", arguments->output, "Default: standard output");
  add_value_option(command, "--output-dir", arguments->output_dir, "DIR",
                   "Folder for translations of several files: NAME.LANG.EXTENSION")
      ->excludes(output);
  add_file_option(command, "--report", arguments->report, "Write all texts, translations, terms and problems as JSON");
  command.add_flag("--list", arguments->lists_routes, "Print the languages of each possible route and exit");
  const OptionInfo beams("num_beams", {1, kMaxSequences}, {}, "N", "Number of beams; 1 for greedy search");
  add_option(command, beams, &options.translate.generate.num_beams);
  add_batch_size_option(command, options.translate.generate.batch_size);
  arguments->model.add_load_options(command);
  arguments->model.add_workers_option(command, options.translate.generate.workers);
  arguments->model.add_quiet_option(command, "No progress bar, notes and warnings");
  add_words_option(command, "--entries", kCatalogueEntries, options.document.entries, "PO, XLIFF: entries to translate")
      ->default_str("untranslated");
  command.add_flag_callback(
      "--no-fuzzy", [&options] { options.document.mark_fuzzy = false; },
      "PO: do not mark new translations as fuzzy; programs ignore fuzzy ones");
  add_value_option(command, "--xliff-state", options.document.xliff_state, "STATE", "XLIFF 1.2: state of new targets")
      ->capture_default_str();
  add_number_option(command, "--line-width", arguments->line_width, 0, 1000,
                    "Subtitles: characters per line; 0: 42, or 16 for Chinese, Japanese and Korean");
  command.footer(
      R"(Only texts are changed in a file. An output file appears when it is complete. Until then, NAME.progress
stores the finished part, and the same command resumes from it. Warnings list translations that were not used,
for example because %s is missing, and glossary terms that are missing.)");
  return [arguments] { run(*arguments); };
}

}  // namespace

CommandSlice translation_command_slice() {
  static constexpr std::array kSubcommands = {
      Subcommand{"translate", "Translate files: texts, web pages, subtitles, catalogues", add_translate,
                 "encdec translate --model opus-mt-en-fr film.en.srt --output film.fr.srt"}};
  return {.subcommands = kSubcommands};
}

}  // namespace encdec::cli

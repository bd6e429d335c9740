#include <encdec/encoders/classifier.h>
#include <encdec/engine/base/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "command/commands.h"
#include "command/lines.h"
#include "command/output_file.h"
#include "common/json_arrays.h"
#include "encoders/command/text_windows.h"

namespace encdec::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ClassifyArguments {
  TextArguments text;
  ClassifyOptions classify;
  ZeroShotOptions zero_shot;
  std::vector<std::string> labels;  // candidates for zero-shot classification; empty: use the model's own labels
  bool pairs = false;
  bool all_scores = false;
  bool json = false;
};

// Returns a text's output line: its labels with their scores, highest score first.
std::string format_scores(std::span<const std::string> labels, std::span<const float> scores,
                          const ClassifyArguments& arguments) {
  const std::vector<Ranking> best = ranked(scores, arguments.all_scores ? 0 : 1);
  if (arguments.json) {
    Json list = Json::array();
    for (const auto& [index, score] : best) list.push_back({{"label", labels[index]}, {"score", short_number(score)}});
    return to_text({{"labels", std::move(list)}}) + "\n";
  }
  std::string line;
  for (const auto& [index, score] : best) {
    line += fmt::format("{}{}\t{}", line.empty() ? "" : "\t", as_line(labels[index]), score);
  }
  return line + "\n";
}

// Splits a line at its only tab. `position` is for the error message.
TextPair pair_of(const std::string& line, const std::string& position) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string::npos || line.find('\t', tab + 1) != std::string::npos) {
    throw InputError(fmt::format("{}: expected two texts with a tab between", position));
  }
  return {line.substr(0, tab), line.substr(tab + 1)};
}

void classify(ClassifyArguments& arguments) {
  // Open the input first, so that a wrong path is reported before the model is loaded.
  LineReader input(arguments.text.input);
  const Classifier classifier(arguments.text.model.load_text_model());
  arguments.text.set(arguments.classify);
  arguments.zero_shot.classify = arguments.classify;
  const std::vector<std::string>& candidates = arguments.labels;
  std::int64_t read = 0;  // number of the current line
  for_each_window(arguments.text, input, [&](const std::vector<std::string>& lines) {
    Tensor scores;
    if (candidates.empty()) {
      std::vector<TextPair> texts;
      for (const std::string& line : lines) {
        ++read;
        texts.push_back(arguments.pairs ? pair_of(line, fmt::format("{}:{}", input.name(), read)) : TextPair{line});
      }
      scores = classifier.classify(texts, arguments.classify);
    } else {
      scores = classifier.classify_by_labels(lines, candidates, arguments.zero_shot);
    }
    const std::span<const std::string> labels = candidates.empty() ? classifier.labels()->names() : candidates;
    std::string text;
    for (Dim i = 0; i < scores.rows(); ++i) text += format_scores(labels, {scores.row(i), labels.size()}, arguments);
    return text;
  });
}

struct RerankArguments {
  TextArguments text;
  RerankOptions rerank;
  std::string query;
  bool json = false;
};

std::string format_ranking(const Ranking& ranking, const std::string& document, bool json) {
  if (!json) return fmt::format("{}\t{}\t{}\n", ranking.index, ranking.score, document);
  const Json object = {{"index", ranking.index}, {"score", short_number(ranking.score)}, {"document", document}};
  return object.dump() + "\n";
}

void rerank(RerankArguments& arguments) {
  LineReader input(arguments.text.input);
  OutputFile output(arguments.text.output);
  check_utf8(arguments.query, "--query");
  const Classifier classifier(arguments.text.model.load_text_model());
  arguments.text.model.note_typed_input(arguments.text.input);
  arguments.text.set(arguments.rerank.classify);
  std::vector<std::string> documents;
  for (std::string line; input.next(line);) {
    check_utf8(line, input.position());
    documents.push_back(line);
  }
  for (const Ranking& ranking : classifier.rerank(arguments.query, documents, arguments.rerank)) {
    output.write(format_ranking(ranking, documents[ranking.index], arguments.json));
  }
  output.commit();
}

struct TagArguments {
  TextArguments text;
  TagOptions tag;
  bool json = false;
};

// Returns the entities with the keys of transformers' pipeline. Aggregated entities have "entity_group" instead of
// "entity", and no "index".
Json entities_json(const std::vector<Entity>& entities, Aggregation aggregation) {
  Json list = Json::array();
  for (const Entity& entity : entities) {
    Json& item = list.emplace_back(Json::object());
    const bool is_token = aggregation == Aggregation::none;
    item[is_token ? "entity" : "entity_group"] = entity.label;
    item["score"] = short_number(entity.score);
    if (is_token) item["index"] = entity.token;
    item["word"] = entity.word;
    item["start"] = entity.characters.begin;
    item["end"] = entity.characters.end;
    item["start_byte"] = entity.bytes.begin;
    item["end_byte"] = entity.bytes.end;
  }
  return list;
}

// Returns one line per entity and an empty line or, with --json, one JSON object.
std::string format_entities(const std::vector<Entity>& entities, const TagArguments& arguments) {
  if (arguments.json) {
    return to_text({{"entities", entities_json(entities, arguments.tag.aggregation)}}) + "\n";
  }
  std::string lines;
  for (const Entity& entity : entities) {
    lines += fmt::format("{}\t{}\t{}\t{}\t{}\n", as_line(entity.label), entity.score, entity.characters.begin,
                         entity.characters.end, as_line(entity.word));
  }
  return lines + "\n";
}

void tag(TagArguments& arguments) {
  LineReader input(arguments.text.input);
  const Classifier classifier(arguments.text.model.load_text_model());
  arguments.text.set(arguments.tag);
  for_each_window(arguments.text, input, [&](const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& entities : classifier.tag(lines, arguments.tag)) text += format_entities(entities, arguments);
    return text;
  });
}

void add_max_length_option(CLI::App& command, int& max_length) {
  add_number_option(command, "--max-length", max_length, 0, kMaxTokenCount,
                    "Maximum tokens of a text or pair, including special tokens; 0: the model's limit");
}

}  // namespace

Action add_classify(CLI::App& command) {
  const auto options = std::make_shared<ClassifyArguments>();
  options->text.add_files(command, "Texts in UTF-8, one per line", "LABEL<TAB>SCORE of each text");
  CLI::Option* pairs =
      command.add_flag("--pairs", options->pairs, "Read a pair of texts from each line: TEXT<TAB>TEXT");
  command.add_flag("--all-scores", options->all_scores, "Write all labels of each text, the best first");
  command.add_flag("--json", options->json, R"(Write a JSON object for each text: {"labels": [{"label", "score"}]})");
  // Add the options of zero-shot classification.
  CLI::Option* labels =
      command
          .add_option_function<std::string>(
              "--labels", [options](const std::string& list) { options->labels = split_labels(list); },
              "Labels to choose from, for a natural language inference model (zero-shot classification)")
          ->type_name("A,B,C")
          ->check(expecting("labels separated by commas",
                            [](const std::string& list) { return !split_labels(list).empty(); }))
          ->excludes(pairs);
  add_value_option(command, "--hypothesis-template", options->zero_shot.hypothesis_template, "TEXT",
                   "Sentence that the model compares with the text; {} is replaced by the label")
      ->capture_default_str()
      ->needs(labels);
  command.add_flag("--multi-label", options->zero_shot.multi_label, "Score each label independently, from 0 to 1")
      ->needs(labels);
  add_max_length_option(command, options->classify.max_length);
  options->text.add_reading(command);
  command.footer(
      R"(Scores equal the scores of transformers' pipelines: softmax over the labels, sigmoid for a single label and for multi-label
models, and the model's output for regression. The model must be a classifier: the architectures in its config.json end
with ForSequenceClassification.)");
  return [options] { classify(*options); };
}

Action add_tag(CLI::App& command) {
  const auto options = std::make_shared<TagArguments>();
  options->text.add_files(command, "Texts in UTF-8, one per line",
                          "The entities of each text, LABEL<TAB>SCORE<TAB>START<TAB>END<TAB>WORD, and an empty line");
  CLI::Option* aggregation =
      add_words_option(command, "--aggregation", kAggregationNames, options->tag.aggregation,
                       "How to form entities: none: one per token; simple: adjacent tokens with the same label; the "
                       "others: adjacent words, labelled by the first token, the mean scores or the highest score")
          ->default_str("none");
  command
      .add_option_function<std::string>(
          "--ignore-labels", [options](const std::string& list) { options->tag.ignore_labels = split_labels(list); },
          "Drop entities with these labels")
      ->type_name("A,B,C")
      ->default_str("O");
  add_number_option(command, "--stride", options->tag.stride, 0, kMaxTokenCount,
                    "Read a text that is too long in windows that overlap by N tokens; 0: see --long-texts")
      ->needs(aggregation);
  command.add_flag(
      "--json", options->json,
      R"(Write a JSON object for each text: {"entities": [{"entity" or "entity_group", "score", "word", ...}]})");
  add_max_length_option(command, options->tag.max_length);
  options->text.add_reading(command);
  command.footer(
      R"(START and END are offsets in characters (code points); the JSON also contains start_byte and end_byte. Scores, words and
aggregation equal the results of transformers' pipeline. The model must be a token classifier: the architectures in its
config.json end with ForTokenClassification.)");
  return [options] { tag(*options); };
}

Action add_rerank(CLI::App& command) {
  const auto options = std::make_shared<RerankArguments>();
  options->text.add_files(command, "Documents in UTF-8, one per line",
                          "INDEX<TAB>SCORE<TAB>DOCUMENT, the best first; INDEX is the line, from 0");
  add_value_option(command, "--query", options->query, "TEXT", "Query to rank the documents by")->required();
  add_number_option(command, "--top-n", options->rerank.top_n, 0, kMaxTokenCount,
                    "Number of documents to write; 0: all");
  command.add_flag("--json", options->json, R"(Write a JSON object for each document: {"index", "score", "document"})");
  command.add_flag("--raw-scores", options->rerank.raw_scores,
                   "Write logits, even if the model's files specify an activation");
  add_max_length_option(command, options->rerank.classify.max_length);
  options->text.add_reading(command);
  command.footer(
      R"(The model reads the query together with each document (a cross-encoder). Its files specify whether a score is a logit or
a number from 0 to 1. Documents with equal scores stay in input order.)");
  return [options] { rerank(*options); };
}

}  // namespace encdec::cli

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <unordered_map>
#include <utility>

#include "encdec/encoders/classifier.h"
#include "encdec/encoders/embedder.h"
#include "python/src/arrays.h"
#include "python/src/closable_queue.h"
#include "python/src/compute.h"
#include "python/src/inbox.h"
#include "python/src/inputs.h"
#include "python/src/option_rows.h"
#include "slice.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

constexpr OptionInfo kDimensions = option_of_two_names("dimensions", "truncate_dim");
constexpr OptionInfo kAggregation = option_of_two_names("aggregation", "aggregation_strategy");
constexpr OptionInfo kLongTexts("long_texts", {}, {}, "error|truncate");

// The functions below read the options of a call from its keyword arguments, and throw for unknown keywords.
EmbedOptions embed_options(const nb::dict& dict) {
  Keywords keywords(dict);
  EmbedOptions options;
  keywords.read(options.batch_size, "batch_size");
  keywords.read(options.normalize, "normalize");
  read_own(keywords, kDimensions, &options.dimensions);
  keywords.read(options.prompt, "prompt");
  keywords.read(options.prompt_name, "prompt_name");
  read_option(keywords, kLongTexts, option_value(options.long_texts));
  std::string word(name_of(kEmbedOutputNames, options.output));
  keywords.read(word, "output");
  options.output = named("output", word, kEmbedOutputNames);
  keywords.finish();
  return options;
}

ClassifyOptions classify_options(const nb::dict& dict) {
  Keywords keywords(dict);
  ClassifyOptions options;
  keywords.read(options.batch_size, "batch_size");
  keywords.read(options.max_length, "max_length");
  read_option(keywords, kLongTexts, option_value(options.long_texts));
  std::string word(name_of(kTruncationNames, options.truncation));
  keywords.read(word, "truncation");
  options.truncation = named("truncation", word, kTruncationNames);
  if (const nb::object function = keywords.take("function_to_apply"); function.is_valid()) {
    options.function = named("function_to_apply", text_from(function, "function_to_apply"), kScoreFunctionNames);
  }
  keywords.finish();
  return options;
}

TagOptions tag_options(const nb::dict& dict) {
  Keywords keywords(dict);
  TagOptions options;
  keywords.read(options.batch_size, "batch_size");
  keywords.read(options.max_length, "max_length");
  read_option(keywords, kLongTexts, option_value(options.long_texts));
  std::string word(name_of(kAggregationNames, options.aggregation));
  read_own(keywords, kAggregation, &word);
  options.aggregation = named("aggregation", word, kAggregationNames);
  keywords.read(options.stride, "stride");
  if (const nb::object labels = keywords.take("ignore_labels"); labels.is_valid()) {
    options.ignore_labels.clear();
    for (const nb::handle label : labels) options.ignore_labels.push_back(text_from(label, "ignore_labels"));
  }
  keywords.finish();
  return options;
}

// Returns texts, or pairs of texts if `seconds` is not None.
std::vector<TextPair> pairs_from(nb::list texts, nb::object seconds) {
  std::unordered_map<PyObject*, SharedText> known;  // text by object; a list may contain an object many times
  const auto shared = [&](nb::handle value, std::size_t number) {
    const auto found = known.find(value.ptr());
    if (found != known.end()) return found->second;
    return known.emplace(value.ptr(), text_from(value, fmt::format("text {}", number))).first->second;
  };
  std::vector<TextPair> pairs;
  for (const nb::handle text : texts) pairs.push_back({shared(text, pairs.size() + 1)});
  if (seconds.is_none()) return pairs;
  const auto others = nb::cast<nb::list>(seconds);
  if (others.size() != pairs.size()) {
    throw InputError(fmt::format("{} texts but {} pairs, expected one pair per text", pairs.size(), others.size()));
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].second = shared(others[i], i + 1);
  return pairs;
}

// Converts a vector to an array, or to a dict for class SparseVector.
nb::object to_python(VectorResult result) {
  if (result.output == EmbedOutput::sparse) {
    nb::dict fields;
    fields["token_ids"] = result.token_ids;
    fields["values"] = result.values;
    return fields;
  }
  const auto size = static_cast<Dim>(result.values.size());
  const bool is_matrix = result.output != EmbedOutput::dense;
  const Shape shape = is_matrix ? Shape{static_cast<Dim>(result.rows), static_cast<Dim>(result.width)} : Shape{size};
  return to_array(std::move(result.values), shape);
}

// Converts entities to a list of dicts for class Entity.
nb::object to_python(const std::vector<Entity>& entities) {
  nb::list list;
  for (const Entity& entity : entities) {
    nb::dict fields;
    fields["label"] = entity.label;
    fields["score"] = entity.score;
    fields["word"] = text_of(entity.word);
    fields["start"] = entity.characters.begin;
    fields["end"] = entity.characters.end;
    fields["start_byte"] = entity.bytes.begin;
    fields["end_byte"] = entity.bytes.end;
    fields["token"] = entity.token;
    list.append(fields);
  }
  return list;
}

// Returns an array [N, D] of dense vectors, or a list of other vectors.
nb::object embed(const Model& model, nb::list texts, nb::dict keywords) {
  const EmbedOptions options = embed_options(keywords);
  const std::vector<std::string> list = texts_from(texts);
  const Embedder embedder(model);
  if (options.output == EmbedOutput::dense) return to_array(compute([&] { return embedder.embed(list, options); }));
  nb::list results;
  for (VectorResult& vector : compute([&] { return embedder.embed_each(list, options); })) {
    results.append(to_python(std::move(vector)));
  }
  return results;
}

nb::object classify(const Classifier& classifier, nb::list texts, nb::object seconds, nb::dict keywords) {
  const ClassifyOptions options = classify_options(keywords);
  const std::vector<TextPair> pairs = pairs_from(texts, seconds);
  return to_array(compute([&] { return classifier.classify(pairs, options); }));
}

nb::list tag(const Classifier& classifier, nb::list texts, nb::dict keywords) {
  const TagOptions options = tag_options(keywords);
  const std::vector<std::string> list = texts_from(texts);
  nb::list found;
  for (const auto& entities : compute([&] { return classifier.tag(list, options); })) found.append(to_python(entities));
  return found;
}

// Returns {"labels", "rerank_function"}; None if the model is not a classifier.
nb::object labels_of(const Classifier& classifier) {
  if (classifier.labels() == nullptr) return nb::none();
  nb::dict fields;
  fields["labels"] = classifier.labels()->names();
  fields["rerank_function"] = std::string(name_of(kScoreFunctionNames, classifier.labels()->ranking_function()));
  return fields;
}

nb::list hypotheses_of(const std::vector<std::string>& labels, const std::string& pattern) {
  nb::list sentences;
  for (const SharedText& sentence : hypotheses(labels, pattern)) sentences.append(*sentence);
  return sentences;
}

// Submits texts to an Embedder or a Classifier.
template <class Result, class Face, class Texts, class Options>
Request submit_texts(const ClosableQueue& holder, const Inbox& inbox, std::uint64_t number, const Face& face,
                     const Texts& texts, const Options& options) {
  const std::shared_ptr<RequestQueue> queue = holder.get();
  return submit_without_lock(texts.size(), [&] {
    return face.submit(*queue, texts, options,
                       inbox.handlers<Result>(number, [](Result result) { return to_python(std::move(result)); }));
  });
}

Request submit_embed(const ClosableQueue& queue, const Inbox& inbox, std::uint64_t number, const Model& model,
                     nb::list texts, nb::dict keywords) {
  const EmbedOptions options = embed_options(keywords);
  return submit_texts<VectorResult>(queue, inbox, number, Embedder(model), texts_from(texts), options);
}

Request submit_classify(const ClosableQueue& queue, const Inbox& inbox, std::uint64_t number,
                        const Classifier& classifier, nb::list texts, nb::object seconds, nb::dict keywords) {
  const ClassifyOptions options = classify_options(keywords);
  return submit_texts<VectorResult>(queue, inbox, number, classifier, pairs_from(texts, seconds), options);
}

Request submit_tag(const ClosableQueue& queue, const Inbox& inbox, std::uint64_t number, const Classifier& classifier,
                   nb::list texts, nb::dict keywords) {
  const TagOptions options = tag_options(keywords);
  return submit_texts<std::vector<Entity>>(queue, inbox, number, classifier, texts_from(texts), options);
}

}  // namespace

void bind_encoders(nb::module_& module) {
  nb::class_<Classifier>(module, "Classifier")
      .def(nb::init<Model>(), nb::arg("model"))
      .def("classify", &classify, nb::arg("texts"), nb::arg("seconds").none(), nb::arg("options"))
      .def("tag", &tag, nb::arg("texts"), nb::arg("options"))
      .def(
          "candidate_scores",
          [](const Classifier& classifier, const std::vector<float>& logits, bool multi_label) {
            return classifier.labels()->candidate_scores(logits, multi_label);
          },
          nb::arg("logits"), nb::arg("multi_label"))
      .def_prop_ro("labels", &labels_of);
  module.def("hypotheses", &hypotheses_of, nb::arg("labels"), nb::arg("pattern"));
  module.def("embed", &embed, nb::arg("model"), nb::arg("texts"), nb::arg("options"));
  module.def("submit_embed", &submit_embed, nb::arg("queue"), nb::arg("inbox"), nb::arg("number"), nb::arg("model"),
             nb::arg("texts"), nb::arg("options"));
  module.def("submit_classify", &submit_classify, nb::arg("queue"), nb::arg("inbox"), nb::arg("number"),
             nb::arg("classifier"), nb::arg("texts"), nb::arg("seconds").none(), nb::arg("options"));
  module.def("submit_tag", &submit_tag, nb::arg("queue"), nb::arg("inbox"), nb::arg("number"), nb::arg("classifier"),
             nb::arg("texts"), nb::arg("options"));
}

}  // namespace encdec::python

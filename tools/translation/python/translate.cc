#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/translation/text/language.h"
#include "encdec/translation/translate_file.h"
#include "python/src/compute.h"
#include "python/src/inputs.h"
#include "python/src/options.h"
#include "slice.h"
#include "translation/python/documents.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

struct Translator {
  std::vector<Model> models = {};
  TranslationRoutes routes = {};
  std::shared_ptr<Glossary> glossary = {};  // null if there are no terms
};

// Adds a model. `languages` has the form FROM:TO, such as "en:de,fr"; if empty, the files of the model name the
// languages.
void add(Translator& translator, const Model& model, nb::bytes folder, const std::string& languages) {
  const std::string path = plain(folder);
  ModelLanguages known = languages.empty() ? ModelLanguages::of(model, path) : ModelLanguages::parse(languages);
  if (known.sources.empty()) {
    throw ConfigError(path + ": its languages are unknown, expected languages= such as \"en:fr\"");
  }
  translator.routes.add(std::move(known));
  translator.models.push_back(model);
}

// Adds pairs of a term and its translation, the terms in `files`, and the protected terms in `kept_files`.
void add_terms(Translator& translator, nb::list terms, nb::list files, nb::list kept_files) {
  if (translator.glossary == nullptr) translator.glossary = std::make_shared<Glossary>();
  Glossary& glossary = *translator.glossary;
  for (const nb::handle pair : terms) {
    const nb::object source = pair[0], target = pair[1];
    glossary.add(text_from(source, "a term of the glossary"), text_from(target, "a term of the glossary"));
  }
  const auto content = [](const std::string& path) { return read_text_file(path, Glossary::kMaxFileBytes); };
  for (const nb::handle file : files) {
    const std::string path = plain(nb::cast<nb::bytes>(file));
    glossary.parse(content(path), path);
  }
  for (const nb::handle file : kept_files) {
    const std::string path = plain(nb::cast<nb::bytes>(file));
    glossary.parse_kept(content(path), path);
  }
}

std::vector<std::vector<std::string>> routes_of(const Translator& translator) {
  std::vector<std::vector<std::string>> routes;
  for (const std::string& source : translator.routes.sources()) {
    for (const std::string& target : translator.routes.targets(source)) {
      routes.push_back(languages_of(translator.routes.find(source, target)));
    }
  }
  return routes;
}

// Reads the options of a translation. The target may be missing if the models translate to only one language.
TranslateOptions translate_options(const Translator& translator, Keywords& keywords) {
  TranslateOptions options{.glossary = translator.glossary};
  keywords.read(options.source, "source");
  keywords.read(options.target, "target");
  keywords.read(options.via, "via");
  keywords.read(options.is_html, "html");
  keywords.read(options.alternatives, "alternatives");
  if (options.alternatives < 0) {
    throw ConfigError(fmt::format("alternatives is {}, expected 0 or more", options.alternatives));
  }
  if (const nb::object word = keywords.take("split"); word.is_valid()) {
    options.split = named("split", text_from(word, "split"), kSplits);
  }
  keywords.read(options.generate.num_beams, "num_beams");
  keywords.read(options.generate.batch_size, "batch_size");
  keywords.read(options.generate.workers, "workers");
  if (!options.target.empty()) return options;
  const std::vector<std::string> targets = options.source.empty()
                                               ? translator.routes.targets()
                                               : translator.routes.targets(canonical_language(options.source));
  if (targets.size() != 1) {
    throw InputError(fmt::format("no target language, expected one of {}", fmt::join(targets, ", ")));
  }
  options.target = targets.front();
  return options;
}

nb::dict to_python(const Translation& translation) {
  nb::list alternatives, terms;
  for (const std::string& text : translation.alternatives) alternatives.append(text_of(text));
  for (const TermReport& term : translation.terms) {
    nb::dict fields;
    fields["source"] = text_of(term.source);
    fields["target"] = text_of(term.target);
    fields["method"] = std::string(name_of(kTermMethods, term.method));
    terms.append(fields);
  }
  nb::dict fields;
  fields["text"] = text_of(translation.text);
  fields["alternatives"] = alternatives;
  fields["source"] = translation.source;
  fields["route"] = translation.route;
  fields["terms"] = terms;
  fields["problem"] = translation.problem.empty() ? nb::none() : nb::object(text_of(translation.problem));
  return fields;
}

nb::list translate_texts(const Translator& translator, nb::list texts, const nb::dict& options) {
  Keywords keywords(options);
  const TranslateOptions chosen = translate_options(translator, keywords);
  keywords.finish();
  const std::vector<std::string> list = texts_from(texts);
  const auto translations = compute([&] {
    TranslationJob job(translator.models, translator.routes, chosen);
    for (const std::string& text : list) job.add(text);
    return translate(translator.models, job);
  });
  nb::list found;
  for (const Translation& translation : translations) found.append(to_python(translation));
  return found;
}

// Translates a file to `output` or, if `output` is empty, to a new file in the same folder. Returns the path of the
// output, and the report as JSON. Calls `on_progress`, unless it is None, with the number of translated segments and
// the number of all segments.
nb::tuple translate_path(const Translator& translator, nb::bytes file, nb::bytes output, const nb::dict& options,
                         nb::object on_progress) {
  Keywords keywords(options);
  TranslateFileOptions chosen{.translate = translate_options(translator, keywords)};
  chosen.document = document_options(keywords, chosen.format);
  keywords.finish();
  chosen.document.target_language = canonical_language(chosen.translate.target);
  if (!on_progress.is_none()) {
    chosen.on_progress = [&on_progress](std::size_t done, std::size_t total) {
      const LockTaken taken;
      take_lock([&] { on_progress(done, total); });  // the interpreter may end meanwhile
    };
  }
  const std::filesystem::path from = plain(file);
  std::filesystem::path to = plain(output);
  if (to.empty()) to = from.parent_path() / translated_name(from, chosen.document.target_language);
  const std::string report = compute([&] {
    nlohmann::ordered_json segments;
    translate_file(from, to, translator.models, translator.routes, chosen, &segments);
    return segments.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  });
  return nb::make_tuple(nb::bytes(to.c_str()), report);
}

}  // namespace

void bind_translation(nb::module_& module) {
  bind_documents(module);
  nb::class_<Translator>(module, "Translator")
      .def(nb::init<>())
      .def("add", &add, nb::arg("model"), nb::arg("folder"), nb::arg("languages"))
      .def("add_terms", &add_terms, nb::arg("terms"), nb::arg("files"), nb::arg("kept_files"))
      .def("routes", &routes_of)
      .def("translate", &translate_texts, nb::arg("texts"), nb::arg("options"))
      .def("translate_file", &translate_path, nb::arg("file"), nb::arg("output"), nb::arg("options"),
           nb::arg("on_progress").none());
}

}  // namespace encdec::python

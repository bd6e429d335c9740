#include "options.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "encdec/models/generation/generation_settings.h"
#include "keywords.h"
#include "option_rows.h"
#include "values.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

constexpr OptionInfo kSourceLang = option_of_two_names("source_lang", "src_lang");
constexpr OptionInfo kTargetLang = option_of_two_names("target_lang", "tgt_lang");

// Reads a number, "mean" or "all".
void read_choice(Keywords& keywords, std::string_view name, AttentionChoice& choice) {
  const nb::object value = keywords.take(name);
  if (!value.is_valid()) return;
  if (PyUnicode_Check(value.ptr()) == 0) {
    choice.of = AttentionChoice::Of::one;
    return read_value(name, value, choice.number);
  }
  const std::string word = text_from(value, name);
  if (word != "mean" && word != "all") {
    throw ConfigError(fmt::format("{} is '{}', expected a number, mean or all", name, word));
  }
  choice.of = word == "mean" ? AttentionChoice::Of::mean : AttentionChoice::Of::each;
}

// Reads "kinds" (a word or a list of words), "layers" and "heads".
AttentionSelection read_selection(Keywords& keywords) {
  AttentionSelection selection;
  if (nb::object kinds = keywords.take("kinds"); kinds.is_valid()) {
    if (PyUnicode_Check(kinds.ptr()) != 0) kinds = nb::make_tuple(kinds);
    for (const nb::handle kind : kinds) {
      selection.kinds.push_back(attention_kind(text_from(kind, "kinds")));
    }
  }
  read_choice(keywords, "layers", selection.layers);
  read_choice(keywords, "heads", selection.heads);
  return selection;
}

}  // namespace

GenerateOptions generate_options(const nb::dict& dict) {
  Keywords keywords(dict);
  GenerateOptions options;
  for (const UnsupportedSetting& setting : unsupported_settings()) {
    keywords.check_neutral(setting.name, setting.neutral);
  }
  for (const auto& row : generation_settings()) read_own(keywords, row, row.value(options));
  read_rows(keywords, generation_call_options(), options);
  check_ranges(generation_call_options(), options);
  keywords.read(options.batch_size, "batch_size");
  keywords.read(options.workers, "workers");
  // "attention" is True, False or a dict with a selection.
  if (const nb::object attention = keywords.take("attention"); attention.is_valid()) {
    if (nb::isinstance<nb::dict>(attention)) {
      Keywords choices(nb::cast<nb::dict>(attention));
      options.attention = read_selection(choices);
      choices.finish();
    } else {
      bool is_wanted = false;
      read_value("attention", attention, is_wanted);
      if (is_wanted) options.attention.emplace();
    }
  }
  keywords.finish();
  return options;
}

std::vector<std::string> generate_option_names() {
  std::vector<std::string> names;
  for (const UnsupportedSetting& setting : unsupported_settings()) names.emplace_back(setting.name);
  for (const auto& row : generation_settings()) add_names(row, names);
  for (const auto& row : generation_call_options()) add_names(row, names);
  for (const char* name : {"batch_size", "workers", "attention"}) names.emplace_back(name);
  return names;
}

ScoreOptions score_options(const nb::dict& dict) {
  Keywords keywords(dict);
  ScoreOptions options;
  read_own(keywords, kSourceLang, &options.source_lang);
  read_own(keywords, kTargetLang, &options.target_lang);
  keywords.read(options.batch_size, "batch_size");
  keywords.finish();
  return options;
}

AttentionKind attention_kind(std::string_view word) {
  const auto names = std::ranges::find(kAttentionKinds, word, &AttentionNames::word);
  if (names == kAttentionKinds.end()) {
    throw ConfigError(fmt::format("kinds has '{}', expected encoder, decoder or cross", word));
  }
  return names->kind;
}

AttentionMapOptions attention_options(const nb::dict& dict) {
  Keywords keywords(dict);
  AttentionMapOptions options;
  options.selection = read_selection(keywords);
  read_own(keywords, kSourceLang, &options.source_lang);
  read_own(keywords, kTargetLang, &options.target_lang);
  keywords.finish();
  return options;
}

LoadOptions load_options(const nb::dict& dict) {
  Keywords keywords(dict);
  LoadOptions options;
  std::string precision = "float32", draft, draft_model, backend, cache;
  keywords.read(precision, "precision");
  keywords.read(draft, "draft_precision");
  keywords.read(draft_model, "assistant_model");
  keywords.read(backend, "backend");
  keywords.read(options.threads, "threads");
  keywords.read(cache, "weights_cache");
  keywords.finish();
  // Convert the words to the library's enums. A draft precision must be lower than float32.
  const auto known = precision_named(precision);
  if (!known) {
    throw ConfigError(fmt::format("precision is '{}', expected float32, bfloat16, int8, int4 or auto", precision));
  }
  options.precision = *known;
  if (!draft.empty()) options.draft_precision = precision_named(draft);
  if (!draft.empty() && options.draft_precision.value_or(Precision::float32) == Precision::float32) {
    throw ConfigError(fmt::format("draft_precision is '{}', expected bfloat16, int8 or int4", draft));
  }
  if (!backend.empty()) options.backend = backend_named(backend);
  if (!backend.empty() && !options.backend) {
    throw ConfigError(fmt::format("backend is '{}', expected auto, onednn or encdec", backend));
  }
  options.draft_model = draft_model;
  options.packed_weights_cache = cache;
  return options;
}

namespace {

nb::object to_object(EarlyStopping value) {
  if (value == EarlyStopping::never) return nb::str("never");
  return nb::bool_(value == EarlyStopping::when_full);
}
nb::object to_object(ExponentialDecay value) {
  return nb::make_tuple(value.start, value.factor);
}
template <class T>
nb::object to_object(const T& value) {
  return nb::cast(value);
}

}  // namespace

nb::dict to_dict(const GenerateOptions& options) {
  nb::dict dict;
  for (const auto& row : generation_settings()) {
    row.visit(options, [&]<class T>(const std::optional<T>& value) {
      if (value) dict[std::string(row.key()).c_str()] = to_object(*value);
    });
  }
  return dict;
}

}  // namespace encdec::python

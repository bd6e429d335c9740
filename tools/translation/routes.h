#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/model.h"

namespace encdec {

// The languages that a model translates from and to. A key is a canonical code: "fr". Its value is the model's own code
// for the language, "fra_Latn" for NLLB; empty if the model has no such codes.
struct ModelLanguages {
  std::map<std::string, std::string> sources = {};
  std::map<std::string, std::string> targets = {};

  // Finds the languages of a model in the first of these places that has them:
  // 1. the language tokens of the tokenizer,
  // 2. the files and the name of the folder, see language_pair_of().
  // Returns no languages if none of these places has any.
  static ModelLanguages of(const Model& model, const std::string& folder);
  // Parses the languages in --languages: "en:fr", "en:de,fr".
  static ModelLanguages parse(const std::string& text);

  bool translates(const std::string& source, const std::string& target) const {
    return source != target && sources.contains(source) && targets.contains(target);
  }
};

// Returns whether the model's family is trained to translate single sentences.
bool translates_sentences(const Model& model);

// A step of a route: the number of a model, and the languages between which it translates, as canonical codes.
struct RouteStep {
  std::size_t model = 0;
  std::string source, target;

  bool operator==(const RouteStep&) const = default;
};

// Value of `via` that forbids a third language.
inline constexpr std::string_view kNeverVia = "never";

// The ways from language to language by several models. Languages are canonical codes.
class TranslationRoutes {
 public:
  // Adds a model. Models are numbered from 0, in the order in which they are added.
  void add(ModelLanguages languages) { models_.push_back(std::move(languages)); }
  const ModelLanguages& languages(std::size_t model) const { return models_[model]; }

  // Returns the route between two languages: one step by the first model that has the pair, else two steps through
  // English, else two steps through the first other language, in alphabetical order. Empty if there is none. `via` is
  // the language to go through even if a model has the pair; kNeverVia allows one step only; empty leaves it open.
  std::vector<RouteStep> find(const std::string& source, const std::string& target, const std::string& via = {}) const;

  // Returns all languages that a model translates from, in alphabetical order.
  std::vector<std::string> sources() const;
  // Returns all languages to which there is a route: from `source` or, if it is unset, from any language. In
  // alphabetical order.
  std::vector<std::string> targets(const std::optional<std::string>& source = {}) const;

 private:
  std::optional<RouteStep> step(const std::string& source, const std::string& target) const;

  std::vector<ModelLanguages> models_;
};

// Returns the codes of the languages along a route: {"de", "en", "fr"}.
std::vector<std::string> languages_of(const std::vector<RouteStep>& route);

}  // namespace encdec

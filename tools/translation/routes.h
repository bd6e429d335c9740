#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/model.h"

namespace encdec {

// The languages of a model. Maps canonical codes, such as "fr", to the model's own codes, such as "fra_Latn" or "".
struct ModelLanguages {
  std::map<std::string, std::string> sources = {};
  std::map<std::string, std::string> targets = {};

  // Finds the languages of a model in the language tokens of its tokenizer, else in its files and the name of its
  // folder (see language_pair_of()). Returns no languages if they are unknown.
  static ModelLanguages of(const Model& model, const std::string& folder);
  // Parses a value of --languages: "en:fr", "en:de,fr".
  static ModelLanguages parse(const std::string& text);

  bool translates(const std::string& source, const std::string& target) const {
    return source != target && sources.contains(source) && targets.contains(target);
  }
};

// Returns true if the model's family is trained to translate single sentences.
bool translates_sentences(const Model& model);

// A step of a route: a model, and the canonical codes of its languages.
struct RouteStep {
  std::size_t model = 0;
  std::string source, target;

  bool operator==(const RouteStep&) const = default;
};

// Value of `via` that forbids a pivot language.
inline constexpr std::string_view kNeverVia = "never";

// Routes between languages through one or two models. Languages are canonical codes.
class TranslationRoutes {
 public:
  // Adds a model. The first model has number 0.
  void add(ModelLanguages languages) { models_.push_back(std::move(languages)); }
  const ModelLanguages& languages(std::size_t model) const { return models_[model]; }

  // Returns the route between two languages: one step by the first model that has the pair, else two steps through
  // English, else two steps through the first other language in alphabetical order. Returns an empty route if there is
  // none. `via` sets the pivot language even if a model has the pair; kNeverVia allows one step only.
  std::vector<RouteStep> find(const std::string& source, const std::string& target, const std::string& via = {}) const;

  // Returns all source languages, in alphabetical order.
  std::vector<std::string> sources() const;
  // Returns all languages with a route from `source` or, if unset, from any language, in alphabetical order.
  std::vector<std::string> targets(const std::optional<std::string>& source = {}) const;

 private:
  std::optional<RouteStep> step(const std::string& source, const std::string& target) const;

  std::vector<ModelLanguages> models_;
};

// Returns the codes of the languages along a route: {"de", "en", "fr"}.
std::vector<std::string> languages_of(const std::vector<RouteStep>& route);

}  // namespace encdec

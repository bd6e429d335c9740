#pragma once

#include <encdec/translation/routes.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/call.h"
#include "translation/server/downloads.h"

namespace encdec::serve {

// The models of a server as translators, and the documents that it translates.
class TranslationServer final : public ServerSlice {
 public:
  std::vector<ServeOption> options() override;
  void check(const ServeSettings& settings) override;
  std::vector<Route> routes() const override;
  void load(const ServeSettings& settings) override;
  void add(const ServedModel& model, Metrics& metrics) override;
  void adjust(const ServedModel& model, GenerateOptions& options) const override;
  void describe(const ServedModel& model, nlohmann::ordered_json& entry, nlohmann::ordered_json& type) const override;

  std::size_t max_sentences() const { return max_sentences_; }        // in the texts of one request
  std::size_t max_alternatives() const { return max_alternatives_; }  // further translations of one text
  // Return all models, as TranslationJob takes them, and the ways between languages. Numbers of models are those of
  // ModelSet::all().
  std::span<const Model> translators() const { return translators_; }
  const TranslationRoutes& ways() const { return ways_; }
  Downloads& downloads() { return *downloads_; }

 private:
  std::vector<std::string> languages_;               // "NAME=en:fr"
  std::map<std::string, std::string> languages_of_;  // the same by name
  std::size_t max_sentences_ = 16'384;
  std::size_t max_alternatives_ = 8;
  std::vector<Model> translators_;
  TranslationRoutes ways_;
  std::optional<Downloads> downloads_;
};

std::span<const Route> libretranslate_routes();
std::span<const Route> deepl_routes();

}  // namespace encdec::serve

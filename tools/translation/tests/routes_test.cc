#include "encdec/translation/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TranslationRoutes routes_of(const std::vector<std::string>& models) {
  TranslationRoutes routes;
  for (const std::string& model : models) routes.add(ModelLanguages::parse(model));
  return routes;
}

std::vector<std::string> way(const TranslationRoutes& routes, const std::string& source, const std::string& target,
                             const std::string& via = {}) {
  return languages_of(routes.find(source, target, via));
}

TEST(Routes, TakeOneStepWhereAModelHasThePair) {
  const TranslationRoutes routes = routes_of({"de:en", "en:fr", "de:fr,en", "de:fr"});
  EXPECT_THAT(routes.find("de", "fr"), ElementsAre(RouteStep{2, "de", "fr"}));
  EXPECT_THAT(routes.find("de", "en"), ElementsAre(RouteStep{0, "de", "en"}));
  EXPECT_THAT(routes.find("fr", "de"), IsEmpty());
  EXPECT_THAT(routes.find("de", "de"), IsEmpty());
  EXPECT_THAT(routes.find("xx", "fr"), IsEmpty());
}

TEST(Routes, GoThroughEnglishElseThroughTheFirstLanguageThatBothModelsHave) {
  const TranslationRoutes routes = routes_of({"de:da,en,es", "da:fr", "en:fr", "es,da:it"});
  EXPECT_THAT(routes.find("de", "fr"), ElementsAre(RouteStep{0, "de", "en"}, RouteStep{2, "en", "fr"}));
  EXPECT_THAT(way(routes, "de", "it"), ElementsAre("de", "da", "it"));
  EXPECT_THAT(way(routes, "da", "en"), IsEmpty());
  // Two steps at most.
  EXPECT_THAT(way(routes_of({"de:en", "en:fr", "fr:it"}), "de", "it"), IsEmpty());
}

TEST(Routes, MayBeForcedAndForbidden) {
  const TranslationRoutes routes = routes_of({"de:fr,en,es", "en:fr", "es:fr,it"});
  EXPECT_THAT(way(routes, "de", "fr", "es"), ElementsAre("de", "es", "fr"));
  EXPECT_THAT(way(routes, "de", "fr", "it"), IsEmpty());
  EXPECT_THAT(way(routes, "de", "en", "en"), ElementsAre("de", "en"));
  EXPECT_THAT(way(routes, "de", "it", "never"), IsEmpty());
  EXPECT_THAT(way(routes, "de", "fr", "never"), ElementsAre("de", "fr"));
}

TEST(Routes, ListAllLanguagesThatCanBeReached) {
  const TranslationRoutes routes = routes_of({"de:en", "en:de,fr", "it:fr"});
  EXPECT_THAT(routes.sources(), ElementsAre("de", "en", "it"));
  EXPECT_THAT(routes.targets(), ElementsAre("de", "en", "fr"));
  EXPECT_THAT(routes.targets("de"), ElementsAre("en", "fr"));
  EXPECT_THAT(routes.targets("it"), ElementsAre("fr"));
  EXPECT_THAT(routes.targets("fr"), IsEmpty());
}

}  // namespace
}  // namespace encdec

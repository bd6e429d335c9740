// Checks the invariants of tests/models/invariants.h for translation.
#include "tests/models/invariants.h"

#include "encdec/translation/translation_job.h"

namespace encdec::invariants {
namespace {

// Texts of one to three sentences, on a route through a pivot language.
const std::vector<std::string> kTexts{"A cat.", "A dog. The cat sat!", "", "one\n\ntwo", "Rain, wind. Sun? Snow."};

Task translating() {
  const auto load = [](const LoadOptions& with) {
    const std::vector<Model> models{Model::load(ENCDEC_PRETRAINED_DIR "/english-pronunciation", with),
                                    Model::load(ENCDEC_GOLDEN_DIR "/marian/text/model", with)};
    return Worker{models[0], {}, [=](std::span<const int> order, int batch_size) {
                    TranslationRoutes routes;
                    for (const char* pair : {"en:arpabet", "arpabet:fr"}) routes.add(ModelLanguages::parse(pair));
                    TranslationJob job(models, routes,
                                       {.source = "en", .target = "fr", .generate = {.batch_size = batch_size}});
                    for (const int source : order) job.add(kTexts[static_cast<std::size_t>(source) % kTexts.size()]);
                    std::vector<std::string> results;
                    for (const Translation& each : translate(models, job)) results.push_back(each.text + each.problem);
                    return results;
                  }};
  };
  return {.name = "Job", .sources = 20, .load = load};
}

INSTANTIATE_TEST_SUITE_P(Translate, Invariants, testing::Values(translating()), kName);

}  // namespace
}  // namespace encdec::invariants

#include "serve/translation.h"

#include <fmt/format.h>

#include <utility>

namespace encdec::serve {

asio::awaitable<std::vector<Translation>> translate(Call& call, std::vector<std::string> texts,
                                                    TranslateOptions options) {
  call.check_inputs(texts.size());
  const ModelSet& models = call.parts().models;
  if (models.routes().sources().empty()) {
    throw HttpError(400, "the languages of all models are unknown; see --languages NAME=en:fr");
  }
  TranslationJob job(models.translators(), models.routes(), std::move(options));
  for (const std::string& text : texts) {
    job.add(text);
    if (job.sentences() <= call.limits().sentences) continue;
    throw HttpError(413, fmt::format("more than {} sentences (--max-sentences)", call.limits().sentences));
  }
  for (std::vector<TranslationBatch> batches = job.next(); !batches.empty(); batches = job.next()) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      TranslationBatch& batch = batches[i];
      const Call::OnResult take = [&job, i](std::size_t input, GenerateResult& result) {
        job.take(i, input, std::move(result));
      };
      co_await call.generate(*models.all()[batch.model], std::move(batch.inputs), batch.options, take);
    }
  }
  co_return job.results();
}

}  // namespace encdec::serve

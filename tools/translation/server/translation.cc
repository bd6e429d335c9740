#include "translation/server/translation.h"

#include <encdec/engine/base/error.h>
#include <encdec/translation/document_job.h>
#include <encdec/translation/text/language.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "server/parameters.h"

namespace encdec::serve {
namespace {

constexpr std::size_t kMaxXmlMemory = std::size_t{128} << 20;  // maximum memory of the elements of a request

const TranslationServer& translators_of(const Call& call) {
  const auto& server = call.slice<TranslationServer>();
  if (!server.ways.sources().empty()) return server;
  throw HttpError(400, "the languages of all models are unknown; see --languages NAME=en:fr");
}

asio::awaitable<std::vector<Translation>> run(Call& call, TranslationJob& job) {
  for (std::vector<TranslationBatch> batches = job.next(); !batches.empty(); batches = job.next()) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      TranslationBatch& batch = batches[i];
      const Call::OnResult take = [&job, i](std::size_t input, GenerateResult& result) {
        job.take(i, input, std::move(result));
      };
      co_await call.generate(*call.parts().models.all()[batch.model], std::move(batch.inputs), batch.options, take);
    }
  }
  co_return job.results();
}

}  // namespace

void check_sentences(const Call& call, std::size_t count) {
  const std::size_t limit = call.slice<TranslationServer>().max_sentences;
  if (count <= limit) return;
  throw HttpError(413, fmt::format("more than {} sentences, expected fewer", limit));
}

asio::awaitable<std::vector<Translation>> translate(Call& call, std::vector<std::string> texts,
                                                    TranslateOptions options) {
  call.check_inputs(texts.size());
  const TranslationServer& server = translators_of(call);
  TranslationJob job(server.translators, server.ways, std::move(options));
  for (const std::string& text : texts) {
    job.add(text);
    check_sentences(call, job.sentences());
  }
  co_return co_await run(call, job);
}

asio::awaitable<std::vector<Translation>> translate_xml(Call& call, std::vector<std::string> texts,
                                                        std::vector<std::string> kept, TranslateOptions options) {
  call.check_inputs(texts.size());
  const TranslationServer& server = translators_of(call);
  TranslationJob job(server.translators, server.ways, std::move(options));
  std::vector<Document> documents;
  std::size_t memory = 0;
  const auto count = [&memory](std::size_t bytes) {
    memory += bytes;
    if (memory > kMaxXmlMemory) throw HttpError(413, "texts that take too much memory, expected fewer elements");
  };
  for (std::string& text : texts) {
    try {
      documents.push_back(Document::parse_xml_text(std::move(text), kept, "'text'", {.on_memory = count}));
    } catch (const FileError& error) {
      throw HttpError(400, error.what());
    }
    const std::vector<Segment>& segments = documents.back().segments();
    job.add(segments.empty() ? Segment() : segments.front());
    check_sentences(call, job.sentences());
  }
  std::vector<Translation> translations = co_await run(call, job);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::size_t segments = documents[i].segments().size();
    translations[i].text = documents[i].write(std::span(&translations[i].segment, segments)).bytes;
  }
  co_return translations;
}

Document read_document(const Call& call, const std::string& name, const std::string& content, const std::string& target,
                       Downloads::Upload& upload) {
  const auto format = format_of(name);
  if (!format) {
    throw HttpError(400, fmt::format("'{}' has no known file format, expected the extension {}", shown(name),
                                     fmt::join(document_extensions(), ", ")));
  }
  // The form and the request keep the file too.
  std::size_t bytes = 3 * call.request().body.size();
  upload.set_bytes(bytes);
  DocumentOptions options;
  options.target_language = canonical_language(target);
  options.on_memory = [&](std::size_t taken) { upload.set_bytes(bytes += taken); };
  try {
    Document document = Document::parse(content, *format, std::string(shown(name)), options);
    check_sentences(call, document.segments().size());
    return document;
  } catch (const FileError& error) {
    throw HttpError(400, error.what());
  }
}

asio::awaitable<std::string> translate_document(Call& call, Document document, TranslateOptions options,
                                                std::string& problem) {
  const TranslationServer& server = translators_of(call);
  std::size_t sentences = 0;
  DocumentJob job(std::move(document), server.translators, server.ways, std::move(options));
  while (TranslationJob* next = job.next()) {
    sentences += next->sentences();
    check_sentences(call, sentences);
    std::vector<Translation> translations = co_await run(call, *next);
    for (const Translation& each : translations) problem = std::max(problem, each.problem);
    job.take(std::move(translations));
  }
  co_return job.write().bytes;
}

}  // namespace encdec::serve

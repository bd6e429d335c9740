// DeepL's protocol, version 2: documents (github.com/DeepLcom/openapi).
#include <encdec/engine/base/error.h>
#include <encdec/engine/base/named_values.h>
#include <encdec/models/tokenizer/base/lower_case.h>
#include <encdec/models/translation/text/language.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <nlohmann/json.hpp>

#include "serve/document_request.h"
#include "serve/http/random_id.h"
#include "serve/protocols/deepl.h"
#include "serve/routes.h"
#include "serve/translation.h"

namespace encdec::serve {
namespace deepl_documents {

using Json = nlohmann::ordered_json;
using Stage = Downloads::Stage;

constexpr std::array kStages = {
    Named{Stage::queued, "queued"},
    Named{Stage::translating, "translating"},
    Named{Stage::done, "done"},
    Named{Stage::failed, "error"},
};

void check_output_format(const std::string& format, const std::string& name) {
  if (format.empty() || name.ends_with("." + lower_case(format))) return;
  throw HttpError(400,
                  fmt::format("Value for 'output_format' is '{}', expected the format of the file", shown(format)));
}

// Translates a document of which the client has the id. Errors become its state.
asio::awaitable<void> finish(Call& call, DocumentRequest request, TranslateOptions options, Downloads::Upload& upload) {
  std::string error;
  try {
    const OnProgress on_progress = [&upload](std::size_t done, std::size_t total) { upload.set_progress(done, total); };
    std::string content = co_await translate_document(call, std::move(request.document), options, on_progress);
    upload.finish(translated_name(request.name, options.target), std::move(content), request.characters);
    co_return;
  } catch (const HttpError& failure) {
    error = failure.what();
  } catch (const InputError& failure) {
    error = failure.what();
  } catch (const std::exception& failure) {
    spdlog::error("{}: {}", call.request().id, failure.what());
    error = "internal error";
  }
  upload.fail(error);
}

asio::awaitable<void> upload_document(Call& call) {
  const std::string key = random_id() + random_id();
  Downloads::Upload upload = call.parts().downloads.add(match_of(call.request()).client, key);
  std::optional<DocumentRequest> request;
  TranslateOptions options;
  {
    const Parameters parameters(call);
    options = read_deepl_options(call, parameters);
    possible_sources(call.parts().models.routes(), options);  // throws now, not after the answer
    request = read_document(call, parameters, options.target, upload, parameters.text("filename"));
    check_output_format(parameters.text("output_format"), lower_case(request->name));
  }
  call.go_on(Downloads::kTime);
  call.respond({{"document_id", upload.id()}, {"document_key", key}});
  co_await finish(call, std::move(*request), options, upload);
}

asio::awaitable<void> tell_state(Call& call) {
  const Parameters parameters(call);
  const std::string id = call.path_word(0);
  const Downloads::State state = call.parts().downloads.state(id, parameters.text("document_key"));
  Json answer = {{"document_id", id}, {"status", name_of(kStages, state.stage)}};
  if (state.stage == Stage::translating) answer["seconds_remaining"] = state.seconds_remaining;
  if (state.stage == Stage::done) answer["billed_characters"] = state.characters;
  if (state.stage == Stage::failed) answer["error_message"] = answer["message"] = state.error;
  call.respond(answer);
  co_return;
}

asio::awaitable<void> send_result(Call& call) {
  const Parameters parameters(call);
  const auto fetch = call.request().method == "HEAD" ? Downloads::Fetch::keep : Downloads::Fetch::remove;
  call.answer(file_response(call.parts().downloads.fetch(call.path_word(0), parameters.text("document_key"), fetch)));
  co_return;
}

constexpr std::array kRoutes = {
    Route{"POST", "/v2/document", &upload_document, &deepl_error},
    Route{"POST", "/v2/document/*/result", &send_result, &deepl_error},
    Route{"GET", "/v2/document/*/result", &send_result, &deepl_error},
    Route{"POST", "/v2/document/*", &tell_state, &deepl_error},
    Route{"GET", "/v2/document/*", &tell_state, &deepl_error},
};

}  // namespace deepl_documents

std::span<const Route> deepl_document_routes() {
  return deepl_documents::kRoutes;
}

}  // namespace encdec::serve

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encdec/models/model/mailbox.h"
#include "encdec/models/model/request_state.h"
#include "encdec/models/model/sentence_embedder.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// The base class of requests that an encoder-only model or a classifier reads. Converts texts to tokens; subclasses
// convert the network's output to results.
class TextRequest : public RequestState {
 public:
  Compute compute() const override { return settings_.compute; }

 protected:
  struct Settings {
    Compute compute = nullptr;  // one of the static read_...() functions
    std::string prompt = {};    // prepended to each text
    int max_length = 0;         // maximum tokens of a text; 0: the most that the folder and the network allow
    Truncation truncation = Truncation::longest_first;
    LongSources long_texts = LongSources::truncate;
    int batch_size = 0;
  };
  // Throws ConfigError if a number is out of range, or if the model has a decoder and `compute` is not read_logits.
  // Throws TokenizerError if there is no tokenizer.
  TextRequest(const Model& model, Settings settings, FailureHandler on_failure, StartHandler on_start);

  const std::string& prompt() const { return settings_.prompt; }
  std::size_t max_length() const { return max_length_; }  // maximum tokens of a text; 0: no limit
  const Tokenizer& tokenizer() const { return *parts().tokenizer; }
  // Returns options that truncate texts to max_length(), unless longer texts are errors.
  EncodeOptions encode_options() const;
  // Calls `encode`. Adds `number`, the text's number, to the message of an InputError.
  static Encoding encoded(std::size_t number, const std::function<Encoding()>& encode);
  // Throws InputError, with the text's `number`, if the model cannot read these tokens.
  void check(const TokenIds& ids, std::size_t number) const;

  // Computes the last hidden states of all tokens, [tokens, D].
  static void read_rows(Session& session, std::span<const DecodeJob> jobs, const Take& take);
  // Computes the last hidden state of the first token only, [1, D].
  // REQUIRES: TransformerConfig::gathers_rows.
  static void read_first_rows(Session& session, std::span<const DecodeJob> jobs, const Take& take);
  // Returns read_rows or read_first_rows, whichever SentenceEmbedder::embed() needs.
  static Compute read_pooled_rows(const Model& model);
  // Computes a classifier's logits: [1, labels], or [tokens, labels] if it classifies tokens.
  static void read_logits(Session& session, std::span<const DecodeJob> jobs, const Take& take);
  // Computes the weights of the vocabulary's tokens, [1, V], from a masked language model's logits.
  static void read_weights(Session& session, std::span<const DecodeJob> jobs, const Take& take);

 private:
  Settings settings_;
  std::size_t max_length_;
};

// The base class of requests for one vector per text: an embedding, or a classifier's scores.
class VectorRequest : public TextRequest {
 public:
  using Result = VectorResult;
  // Returns the number of elements of a vector; 0 for a sparse vector.
  virtual Dim width() const = 0;
  void on_rows(const DecodeJob& job, const Tensor& rows) override {
    complete(job, handlers_.on_result, [&] {
      VectorResult result = vector_of(job.prompt.source, rows);
      result.source_tokens = job.prompt.source_tokens;
      return result;
    });
  }

 protected:
  VectorRequest(const Model& model, Settings settings, Handlers<VectorResult> handlers);
  // Returns the vector of a text with the tokens `ids`, from the output `rows` of compute().
  virtual VectorResult vector_of(const TokenIds& ids, const Tensor& rows) const = 0;
  // Returns the job of the text with this index. Throws as encoded() and check() do.
  DecodeJob job(std::size_t index, const std::function<Encoding()>& encode) const;

 private:
  Handlers<VectorResult> handlers_;
};

// Submits texts or pairs of texts to a queue as a request of class Kind.
template <class Kind, class Text>
Request submit_texts(RequestQueue& queue, const std::shared_ptr<Kind>& request, std::span<const Text> texts,
                     std::uint64_t client) {
  std::vector<DecodeJob> jobs = request->jobs(texts);
  sort_longest_first(jobs);  // so that texts of similar length are read together
  return queue.submit(request, std::move(jobs), client);
}

// Processes texts in their own queue, and calls take(index, result) for each. `face` is an Embedder or Classifier.
template <class Kind, class Face, class Text, class Options, class Take>
void read_texts(const Face& face, std::span<const Text> texts, const Options& options, const Take& take) {
  using Result = typename Kind::Result;
  Mailbox<std::exception_ptr> failures;  // woken when all results have arrived
  std::atomic<std::size_t> missing = texts.size();
  Handlers<Result> handlers{
      .on_result =
          [&](std::size_t text, Result result) {
            take(text, std::move(result));
            if (--missing == 0) failures.wake();
          },
      .on_failure = [&](std::size_t, std::exception_ptr failure) { failures.put(std::move(failure)); }};
  const auto request = std::make_shared<Kind>(face, options, std::move(handlers));
  RequestQueue queue(face.model(), {.batch_size = options.batch_size});
  submit_texts(queue, request, texts, 0);
  while (missing > 0) {
    for (const std::exception_ptr& failure : failures.take(kCancellationInterval)) std::rethrow_exception(failure);
  }
}

// Returns the vectors [N, width] of texts.
template <class Kind, class Face, class Text, class Options>
Tensor read_vectors(const Face& face, std::span<const Text> texts, const Options& options) {
  Tensor vectors = Tensor::allocate({static_cast<Dim>(texts.size()), Kind(face, options, {}).width()});
  read_texts<Kind>(face, texts, options, [&](std::size_t text, const VectorResult& result) {
    std::ranges::copy(result.values, vectors.row(static_cast<Dim>(text)));
  });
  return vectors;
}

}  // namespace encdec

// Requests that are cancelled, or whose queue ends, at each step of their life.
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "encdec/models/request_queue.h"
#include "tests/models/model_cases.h"

namespace encdec::model_cases {
namespace {

constexpr std::size_t kNever = 0;

// Counts the calls that a worker makes to handlers and recordings, and acts at one of them.
class Steps {
 public:
  Steps(std::size_t last, std::function<void()> act) : last_(last), act_(std::move(act)) {}

  void next() {
    if (++count_ == last_) act_();
  }
  std::size_t count() const { return count_; }

 private:
  std::size_t last_;
  std::function<void()> act_;
  std::size_t count_ = 0;
};

// The calls of one request's handlers, in one line, and whether any came after it was cancelled.
struct Told {
  std::string text;
  bool is_cancelled = false;
  bool is_told_too_late = false;
  std::promise<void> ended;

  void add(Steps& steps, const std::string& more, bool is_end = false) {
    is_told_too_late |= is_cancelled;
    text += more;
    steps.next();
    if (is_end) ended.set_value();
  }
};

std::string ids(std::span<const std::int32_t> tokens) {
  std::string text;
  for (const std::int32_t token : tokens) text += std::to_string(token) + " ";
  return text;
}

// A kind of request, and how one is submitted whose handlers and recording count as steps.
struct Kind {
  const char* name;
  std::filesystem::path model;
  std::function<Request(RequestQueue& queue, Steps& steps, Told& told)> submit;
};

std::function<Request(RequestQueue&, Steps&, Told&)> generating(const GenerateOptions& options, bool is_stream) {
  return [=](RequestQueue& queue, Steps& steps, Told& told) {
    GenerateHandlers handlers{
        .on_result =
            [&](std::size_t, const GenerateResult& result) {
              told.add(steps, "result " + ids(result.hypotheses.front().token_ids), true);
            },
        .on_failure = [&](std::size_t, const std::exception_ptr&) { told.add(steps, "failure", true); },
        .on_start = [&](std::size_t, std::size_t) { told.add(steps, "start "); }};
    if (is_stream) {
      handlers.on_tokens = [&](std::size_t, std::span<const std::int32_t> tokens, std::span<const float>) {
        told.add(steps, "tokens " + ids(tokens));
      };
    }
    const GenerateInput input{.source = TokenIds{1, 2, 3}, .prefix = TokenIds{4, 5}};
    return queue.submit(std::span(&input, 1), options, handlers);
  };
}

Request embed(RequestQueue& queue, Steps& steps, Told& told) {
  const std::vector<std::string> texts{"a few words"};
  return queue.submit(texts, {},
                      {.on_result =
                           [&](std::size_t, const EmbedResult& result) {
                             told.add(steps, "vector " + std::to_string(result.values.front()), true);
                           },
                       .on_failure = [&](std::size_t, const std::exception_ptr&) { told.add(steps, "failure", true); },
                       .on_start = [&](std::size_t, std::size_t) { told.add(steps, "start "); }});
}

std::function<Request(RequestQueue&, Steps&, Told&)> transcribing(const TranscribeOptions& options) {
  return [=](RequestQueue& queue, Steps& steps, Told& told) {
    std::vector<float> samples(AudioReader::kSampleRate);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i * 7919 % 2000) / 2000 - 0.5f;
    const Recording noise = Recording::of_samples(samples);
    const Recording recording{.name = "noise", .open = [&, open = noise.open]() -> Recording::Read {
                                steps.next();
                                return [&, read = open()](std::span<float> to) {
                                  steps.next();
                                  return read(to);
                                };
                              }};
    return queue.submit(recording, options,
                        {.on_result = [&](const Transcript&) { told.add(steps, "transcript", true); },
                         .on_failure = [&](const std::exception_ptr&) { told.add(steps, "failure", true); },
                         .on_segments =
                             [&](std::span<const TranscriptSegment> segments) {
                               told.add(steps, "segments " + ids(segments.front().tokens));
                             }});
  };
}

std::vector<Kind> kinds() {
  const std::filesystem::path golden = ENCDEC_GOLDEN_DIR;
  const std::filesystem::path marian = kMarianCases / "shared_swish" / "model",
                              whisper = golden / "whisper_formats/hugging_face",
                              embedder = golden / "sentence_transformers/mean_normalized/model";
  const GenerateOptions greedy{.max_new_tokens = 6, .min_new_tokens = 6};
  GenerateOptions beams = greedy, samples = greedy;
  beams.num_beams = 3;
  samples.do_sample = true;
  samples.seed = 3;
  TranscribeOptions chunks = TranscribeOptions::of(SpeechRules::transformers), words;
  chunks.chunk_length = 0.4;
  words.word_timestamps = true;
  return {{"text", marian, generating(greedy, false)},
          {"stream", marian, generating(greedy, true)},
          {"stream of beams", marian, generating(beams, true)},
          {"stream of samples", marian, generating(samples, true)},
          {"embedding", embedder, &embed},
          {"recording", whisper, transcribing(words)},
          {"recording in chunks", whisper, transcribing(chunks)}};
}

// Three requests of a kind that a worker takes together; the one in the middle is the victim.
class Company {
 public:
  // At step number `last` the victim is cancelled, or the queue ends.
  enum class End { cancel, stop };
  Company(const Kind& kind, const Model& model, std::size_t last, End end)
      : steps_(last, [this, end] { end == End::cancel ? cancel() : stop(); }) {
    queue_.emplace(model, RequestQueueOptions{.workers = 1});
    // Holds the worker until all are there: it takes them in one turn then.
    Told first;
    std::promise<void> is_held, may_go_on;
    Steps hold(1, [&] {
      is_held.set_value();
      may_go_on.get_future().wait();
    });
    const Request holder = kind.submit(*queue_, hold, first);
    is_held.get_future().wait();
    for (Told& told : told_) {
      Request request = kind.submit(*queue_, steps_, told);
      if (&told == &told_[1]) victim_ = std::move(request);
    }
    may_go_on.set_value();
    if (last != kNever) has_acted_.get_future().wait();
    if (end == End::cancel) {
      first.ended.get_future().wait();
      told_[0].ended.get_future().wait();
      told_[2].ended.get_future().wait();
      if (last == kNever) told_[1].ended.get_future().wait();
    }
    if (stopper_.joinable()) stopper_.join();
    queue_.reset();
  }

  const Told& told(std::size_t request) const { return told_[request]; }
  std::size_t steps() const { return steps_.count(); }

 private:
  void cancel() {
    victim_.cancel();
    told_[1].is_cancelled = true;
    has_acted_.set_value();
  }
  void stop() {
    stopper_ = std::thread([this] { queue_.reset(); });
    has_acted_.set_value();
  }

  Told told_[3];
  Steps steps_;
  Request victim_;
  std::optional<RequestQueue> queue_;
  std::thread stopper_;
  std::promise<void> has_acted_;
};

TEST(RequestLife, ACancelledRequestIsToldNothingMoreAndItsNeighboursDoNotChange) {
  for (const Kind& kind : kinds()) {
    const Model model = Model::load(kind.model, {.threads = 1});
    const Company whole(kind, model, kNever, Company::End::cancel);
    ASSERT_GT(whole.steps(), 5u) << kind.name;
    for (std::size_t step = 1; step <= whole.steps(); ++step) {
      const Company company(kind, model, step, Company::End::cancel);
      EXPECT_FALSE(company.told(1).is_told_too_late) << kind.name << ", step " << step;
      EXPECT_EQ(company.told(0).text, whole.told(0).text) << kind.name << ", step " << step;
      EXPECT_EQ(company.told(2).text, whole.told(2).text) << kind.name << ", step " << step;
    }
  }
}

TEST(RequestLife, AQueueEndsAtAnyStep) {
  for (const Kind& kind : kinds()) {
    const Model model = Model::load(kind.model, {.threads = 1});
    const std::size_t steps = Company(kind, model, kNever, Company::End::cancel).steps();
    for (std::size_t step = 1; step <= steps; ++step) Company(kind, model, step, Company::End::stop);
  }
}

}  // namespace
}  // namespace encdec::model_cases

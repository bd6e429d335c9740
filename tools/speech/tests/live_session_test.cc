#include "encdec/speech/live/live_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <thread>

#include "encdec/models/model/mailbox.h"
#include "encdec/speech/live/utterance_encoder.h"
#include "tests/support/batch_dependence.h"
#include "tests/support/comparison.h"
#include "tests/support/message_of.h"
#include "tests/support/moonshine.h"
#include "tools/speech/tests/all_samples.h"

namespace encdec::live_sessions {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = LiveEvent::Kind;

const std::filesystem::path kNumbers = std::filesystem::path(ENCDEC_PRETRAINED_DIR) / "english-numbers";

SpeechModel load() {
  static const SpeechModel model(Model::load(kNumbers, {.threads = 1}));
  return model;
}

// Returns three clips with a second of silence behind each.
std::vector<float> speech() {
  std::vector<float> all;
  for (const char* clip : {"number.wav", "pause.wav", "timer.wav"}) {
    const std::vector<float> samples = all_samples(AudioReader::open((kNumbers / "clips" / clip).string()));
    all.insert(all.end(), samples.begin(), samples.end());
    all.resize(all.size() + AudioReader::kSampleRate);
  }
  return all;
}

// A session whose events are kept.
class Listener {
 public:
  Listener(const SpeechModel& model, RequestQueue& queue, const LiveOptions& options)
      : session(model, queue, options, [this](LiveEvent event) { mailbox_.put(std::move(event)); }) {}

  // Returns the events of the session, which has been finished.
  std::vector<LiveEvent> events() {
    std::vector<LiveEvent> all;
    while (all.empty() || all.back().kind != Kind::ended) {
      for (LiveEvent& event : mailbox_.take(std::chrono::seconds(1))) all.push_back(std::move(event));
    }
    return all;
  }

 private:
  Mailbox<LiveEvent> mailbox_;

 public:
  LiveSession session;  // destroyed first
};

// Returns the events, without those that only pass time, as texts.
std::vector<std::string> shown(const std::vector<LiveEvent>& events, bool with_partials = false) {
  std::vector<std::string> texts;
  for (const LiveEvent& event : events) {
    if (event.kind != Kind::final_text && !(with_partials && event.kind == Kind::partial)) continue;
    texts.push_back(fmt::format("{} {} {:.4f}-{:.4f} {}|{}", event.utterance, static_cast<int>(event.kind), event.start,
                                event.end, event.text, event.tail));
    for (const TranscriptSegment& segment : event.transcript.segments) {
      texts.back() += fmt::format(" {} {} {}", segment.start, segment.end, segment.avg_logprob);
      for (const TranscriptWord& word : segment.words) texts.back() += fmt::format(" {}@{}", word.text, word.start);
    }
  }
  std::ranges::stable_sort(texts, {}, [](const std::string& text) { return text[0]; });
  return texts;
}

void feed(LiveSession& session, std::span<const float> samples, std::size_t piece, std::uint32_t seed = 0) {
  std::mt19937 random(seed);
  while (!samples.empty()) {
    const std::size_t count = std::min(samples.size(), seed == 0 ? piece : 1 + random() % piece);
    session.feed(samples.first(count));
    samples = samples.subspan(count);
  }
  session.finish();
}

TEST(LiveSession, FinalTextsAreThoseOfTheUtterancesAsRecordings) {
  const SpeechModel model = load();
  RequestQueue queue(model.model());
  LiveOptions options;
  options.transcribe.word_timestamps = true;
  Listener listener(model, queue, options);
  const std::vector<float> samples = speech();
  feed(listener.session, samples, 320);
  std::vector<std::string> texts;
  const std::vector<LiveEvent> events = listener.events();
  for (const LiveEvent& event : events) {
    if (event.kind != Kind::final_text) continue;
    texts.push_back(event.text);
    const auto first = static_cast<std::ptrdiff_t>(event.start * AudioReader::kSampleRate + 0.5),
               last = static_cast<std::ptrdiff_t>(event.end * AudioReader::kSampleRate + 0.5);
    const Transcript alone =
        model.transcribe(Recording::of_samples({samples.begin() + first, samples.begin() + last}), options.transcribe);
    EXPECT_EQ(event.transcript.text, alone.text);
    ASSERT_EQ(event.transcript.segments.size(), alone.segments.size());
    for (std::size_t i = 0; i < alone.segments.size(); ++i) {
      EXPECT_EQ(event.transcript.segments[i].tokens, alone.segments[i].tokens);
      EXPECT_EQ(event.transcript.segments[i].avg_logprob, alone.segments[i].avg_logprob);
      EXPECT_NEAR(event.transcript.segments[i].start, event.start + alone.segments[i].start, 0.01);
      EXPECT_NEAR(event.transcript.segments[i].words.back().end, event.start + alone.segments[i].words.back().end,
                  0.01);
    }
  }
  EXPECT_THAT(texts, ElementsAre("three hundred and twelve", "four two seven", "play some music",
                                 "set a timer for ten minutes"));
  EXPECT_EQ(events.back().counts.utterances, 4u);
  EXPECT_DOUBLE_EQ(events.back().counts.seconds, static_cast<double>(samples.size()) / AudioReader::kSampleRate);
}

TEST(LiveSession, PiecesAndOtherSessionsChangeNothing) {
  const SpeechModel model = load();
  const std::vector<float> samples = speech();
  LiveOptions options;
  options.partials = Partials::always;
  options.step_ms = 1000;
  options.transcribe.word_timestamps = true;
  const auto alone = [&](std::size_t piece, std::uint32_t seed) {
    RequestQueue queue(model.model());
    Listener listener(model, queue, options);
    feed(listener.session, samples, piece, seed);
    return shown(listener.events(), true);
  };
  const std::vector<std::string> expected = alone(320, 0);
  EXPECT_GT(expected.size(), 6u);
  for (const std::size_t piece : {1u, 777u, 1'000'000u}) EXPECT_EQ(alone(piece, 0), expected) << piece;
  EXPECT_EQ(alone(5'000, 3), expected);

  RequestQueue queue(model.model(), {.workers = 2});
  std::vector<std::unique_ptr<Listener>> listeners;
  for (int i = 0; i < 4; ++i) listeners.push_back(std::make_unique<Listener>(model, queue, options));
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < listeners.size(); ++i) {
    threads.emplace_back([&, i] { feed(listeners[i]->session, samples, 3'000, i + 1); });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& listener : listeners) EXPECT_EQ(shown(listener->events(), true), expected);
}

TEST(LiveSession, PartialTextsGrow) {
  const SpeechModel model = load();
  RequestQueue queue(model.model());
  LiveOptions options;
  options.partials = Partials::always;
  options.step_ms = 100;
  options.utterances.silence_duration_ms = 3000;  // one long utterance
  Listener listener(model, queue, options);
  feed(listener.session, speech(), 320);
  std::string before;
  std::uint64_t utterance = 0;
  int words = 0;
  for (const LiveEvent& event : listener.events()) {
    if (event.utterance != utterance) before.clear();
    utterance = event.utterance;
    if (event.kind != Kind::partial) continue;
    EXPECT_TRUE(event.text.starts_with(before)) << before << " / " << event.text;
    words += event.text.empty() ? 0 : 1;
    before = event.text;
  }
  EXPECT_GT(words, 5);
}

TEST(UtteranceEncoder, GivesTheRowsOfEveryBeginningOfARecording) {
  const Model model = Model::load(kMoonshine / "streaming");
  if (depends_on_batch(model)) GTEST_SKIP() << "the backend's bits depend on the number of rows";
  Session session(model.network(), std::make_shared<ThreadTeam>());
  const Tensor clip = moonshine_clips().back();
  const auto encoder = UtteranceEncoder::make(model);
  ASSERT_NE(encoder, nullptr);
  const auto rows = [&](Dim count) {
    return encoder->rows(std::span(clip.data<float>(), static_cast<std::size_t>(count)));
  };
  for (const Dim count : {Dim{80}, Dim{81}, Dim{3'000}, Dim{3'000}, Dim{16'000}, clip.rows()}) {
    const Tensor beginning = clip.slice(0, count);
    EXPECT_TRUE(same_bits(rows(count), session.encode(std::span(&beginning, 1)).hidden)) << count;
  }
  EXPECT_TRUE(rows(clip.rows() - 1).empty());
  EXPECT_FALSE(rows(clip.rows()).empty());
  EXPECT_EQ(UtteranceEncoder::make(Model::load(kMoonshine / "untied")), nullptr);
  EXPECT_EQ(UtteranceEncoder::make(Model::load(kMoonshine / "streaming", {.backend = BackendChoice::onednn})), nullptr);
}

TEST(LiveSession, MoonshineStreamingGivesTheTextsOfEachBeginning) {
  const SpeechModel model(Model::load(kMoonshine / "streaming", {.threads = 1}));
  RequestQueue queue(model.model());
  LiveOptions options;
  options.partials = Partials::always;
  options.step_ms = 100;
  options.finds_utterances = false;
  Listener listener(model, queue, options);
  const Tensor clip = moonshine_clips().back();
  const std::span<const float> samples(clip.data<float>(), static_cast<std::size_t>(clip.rows()));
  feed(listener.session, samples, 320);
  int texts = 0;
  for (const LiveEvent& event : listener.events()) {
    if (event.kind != Kind::partial && event.kind != Kind::final_text) continue;
    const auto count = static_cast<std::ptrdiff_t>(event.end * AudioReader::kSampleRate + 0.5);
    const Transcript alone = model.transcribe(Recording::of_samples({samples.begin(), samples.begin() + count}),
                                              {.beam_size = event.kind == Kind::partial ? 1 : 5});
    EXPECT_EQ(" " + event.text + event.tail, alone.text);
    ++texts;
  }
  EXPECT_GT(texts, 3);
}

TEST(LiveSession, TheCallerMayEndUtterances) {
  const SpeechModel model = load();
  RequestQueue queue(model.model());
  for (const bool finds_utterances : {false, true}) {
    LiveOptions options;
    options.finds_utterances = finds_utterances;
    options.partials = Partials::none;
    Listener listener(model, queue, options);
    LiveSession& session = listener.session;
    EXPECT_FALSE(session.commit());
    const std::vector<float> clip = all_samples(AudioReader::open((kNumbers / "clips/number.wav").string()));
    const std::vector<float> silence(1'000);
    session.feed(clip);
    EXPECT_TRUE(session.commit());
    EXPECT_FALSE(session.commit());
    session.feed(clip);
    session.clear();
    EXPECT_FALSE(session.commit());
    session.feed(silence);
    EXPECT_TRUE(session.commit());
    session.finish();
    std::vector<std::string> texts;
    for (const LiveEvent& event : listener.events()) {
      if (event.kind == Kind::final_text) texts.push_back(event.text);
    }
    EXPECT_THAT(texts, ElementsAre("three hundred and twelve", "")) << finds_utterances;
  }
}

TEST(LiveSession, CanBeDestroyedAtAnyStep) {
  const SpeechModel model = load();
  RequestQueue queue(model.model());
  LiveOptions options;
  options.step_ms = 300;
  const std::vector<float> samples = speech();
  for (std::size_t step = 0; step < samples.size(); step += 4'111) {
    std::atomic<bool> is_alive = true;
    {
      LiveSession session(model, queue, options, [&](const LiveEvent&) { EXPECT_TRUE(is_alive); });
      session.feed(std::span(samples).first(step));
      if (step % 2 == 0) session.finish();
    }
    is_alive = false;
  }
}

TEST(LiveSession, FailuresAreEvents) {
  const SpeechModel model = load();
  RequestQueue queue(model.model(), {.on_progress = [](const GenerateProgress&) { throw Error("no more steps"); }});
  LiveOptions options;
  Listener listener(model, queue, options);
  feed(listener.session, speech(), 320);
  const std::vector<LiveEvent> events = listener.events();
  EXPECT_EQ(std::ranges::count(events, Kind::failed, &LiveEvent::kind), 4);
  EXPECT_EQ(std::ranges::count(events, Kind::final_text, &LiveEvent::kind), 0);
}

TEST(LiveSession, OptionsAreChecked) {
  const SpeechModel model = load();
  RequestQueue queue(model.model());
  const auto refusal = [&](const LiveOptions& options) {
    return message_of<ConfigError>([&] { LiveSession(model, queue, options, [](const LiveEvent&) {}); });
  };
  EXPECT_EQ(refusal({}), "no exception");
  EXPECT_THAT(refusal({.step_ms = 0}), HasSubstr("step_ms is 0, expected"));
  EXPECT_THAT(refusal({.utterances = {.threshold = -1}}), HasSubstr("threshold is -1, expected"));
  EXPECT_THAT(refusal({.transcribe = {.beam_size = 0}}), HasSubstr("beam_size is 0, expected"));
}

}  // namespace
}  // namespace encdec::live_sessions

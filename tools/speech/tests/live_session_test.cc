#include "encdec/speech/live/live_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "encdec/models/model/mailbox.h"
#include "encdec/speech/live/utterance_encoder.h"
#include "encdec/speech/transcript/transcript_format.h"
#include "tests/support/batch_dependence.h"
#include "tests/support/comparison.h"
#include "tests/support/moonshine.h"
#include "tools/speech/tests/recordings.h"

namespace encdec::live_sessions {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = LiveEvent::Kind;

SpeechModel load() {
  static const SpeechModel model(Model::load(kNumbers, {.threads = 1}));
  return model;
}

// Returns three clips with a second of silence after each.
std::vector<float> speech() {
  std::vector<float> all;
  for (const auto& [clip, said] : clips()) {
    const std::vector<float> samples = all_samples(AudioReader::open(clip_path(clip)));
    all.insert(all.end(), samples.begin(), samples.end());
    all.resize(all.size() + AudioReader::kSampleRate);
  }
  return all;
}

std::ptrdiff_t sample_at(double seconds) {
  return static_cast<std::ptrdiff_t>(seconds * AudioReader::kSampleRate + 0.5);
}

// A session that stores its events.
class Listener {
 public:
  Listener(const SpeechModel& model, RequestQueue& queue, const LiveOptions& options)
      : session(model, queue, options, [this](LiveEvent event) { mailbox_.put(std::move(event)); }) {}

  // Returns the events of a finished session.
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

// Returns the events with texts, by utterance.
std::vector<std::string> shown(const std::vector<LiveEvent>& events) {
  std::vector<std::string> texts;
  for (const LiveEvent& event : events) {
    if (event.kind != Kind::final_text && event.kind != Kind::partial) continue;
    texts.push_back(fmt::format("{} {} {:.4f}-{:.4f} {}|{} {}", event.utterance, static_cast<int>(event.kind),
                                event.start, event.end, event.text, event.tail,
                                format(event.transcript, TranscriptFormat::json)));
  }
  std::ranges::stable_sort(texts, {}, [](const std::string& text) { return text[0]; });
  return texts;
}

// Feeds all samples in chunks of `chunk` samples; with a seed, of a random size up to `chunk`.
void feed(LiveSession& session, std::span<const float> samples, std::size_t chunk, std::uint32_t seed = 0) {
  std::mt19937 random(seed);
  while (!samples.empty()) {
    const std::size_t count = std::min(samples.size(), seed == 0 ? chunk : 1 + random() % chunk);
    session.feed(samples.first(count));
    samples = samples.subspan(count);
  }
  session.finish();
}

// Returns the events of a new session.
std::vector<LiveEvent> events_of(const SpeechModel& model, const LiveOptions& options, std::span<const float> samples,
                                 std::size_t chunk = 320, std::uint32_t seed = 0) {
  RequestQueue queue(model.model());
  Listener listener(model, queue, options);
  feed(listener.session, samples, chunk, seed);
  return listener.events();
}

TEST(LiveSession, FinalTextsAreThoseOfTheUtterancesAsRecordings) {
  const SpeechModel model = load();
  LiveOptions options;
  options.transcribe.word_timestamps = true;
  const std::vector<float> samples = speech();
  std::vector<std::string> texts;
  const std::vector<LiveEvent> events = events_of(model, options, samples);
  for (const LiveEvent& event : events) {
    if (event.kind != Kind::final_text) continue;
    texts.push_back(event.text);
    const Transcript alone = model.transcribe(
        Recording::of_samples({samples.begin() + sample_at(event.start), samples.begin() + sample_at(event.end)}),
        options.transcribe);
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
  EXPECT_DOUBLE_EQ(events.back().counts.audio_seconds, static_cast<double>(samples.size()) / AudioReader::kSampleRate);
}

TEST(LiveSession, PiecesAndOtherSessionsChangeNothing) {
  const SpeechModel model = load();
  const std::vector<float> samples = speech();
  LiveOptions options;
  options.partials = Partials::always;
  options.step_ms = 1000;
  options.transcribe.word_timestamps = true;
  const std::vector<std::string> expected = shown(events_of(model, options, samples));
  EXPECT_GT(expected.size(), 6u);
  for (const std::size_t chunk : {1u, 1'000'000u})
    EXPECT_EQ(shown(events_of(model, options, samples, chunk)), expected);
  EXPECT_EQ(shown(events_of(model, options, samples, 5'000, 3)), expected);

  RequestQueue queue(model.model(), {.workers = 2});
  std::vector<std::unique_ptr<Listener>> listeners;
  for (int i = 0; i < 4; ++i) listeners.push_back(std::make_unique<Listener>(model, queue, options));
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < listeners.size(); ++i) {
    threads.emplace_back([&, i] { feed(listeners[i]->session, samples, 3'000, i + 1); });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& listener : listeners) EXPECT_EQ(shown(listener->events()), expected);
}

TEST(LiveSession, PartialTextsGrow) {
  LiveOptions options;
  options.partials = Partials::always;
  options.step_ms = 100;
  options.utterances.silence_duration_ms = 3000;  // one long utterance
  std::string before;
  std::uint64_t utterance = 0;
  int words = 0;
  for (const LiveEvent& event : events_of(load(), options, speech())) {
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
  LiveOptions options;
  options.partials = Partials::always;
  options.step_ms = 100;
  options.finds_utterances = false;
  const Tensor clip = moonshine_clips().back();
  const std::span<const float> samples(clip.data<float>(), static_cast<std::size_t>(clip.rows()));
  int texts = 0;
  for (const LiveEvent& event : events_of(model, options, samples)) {
    if (event.kind != Kind::partial && event.kind != Kind::final_text) continue;
    const Transcript alone =
        model.transcribe(Recording::of_samples({samples.begin(), samples.begin() + sample_at(event.end)}),
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
    Listener listener(model, queue, {.finds_utterances = finds_utterances, .partials = Partials::none});
    LiveSession& session = listener.session;
    EXPECT_FALSE(session.commit());
    const std::vector<float> clip = all_samples(AudioReader::open(clip_path("number.wav")));
    session.feed(clip);
    EXPECT_TRUE(session.commit());
    EXPECT_FALSE(session.commit());
    session.feed(clip);
    session.clear();
    EXPECT_FALSE(session.commit());
    session.feed(std::vector<float>(1'000));
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

}  // namespace
}  // namespace encdec::live_sessions

#include "encdec/speech/features/utterance_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tools/speech/tests/golden_speech.h"

namespace encdec {

void PrintTo(const UtteranceFinder::Event& event, std::ostream* stream) {
  *stream << static_cast<int>(event.kind) << "@" << event.sample;
}

namespace {

using Event = UtteranceFinder::Event;
using Kind = Event::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kWindow = VoiceActivity::kWindow;
constexpr std::uint64_t kSecond = 16'000;

// Gives windows the probabilities of a script.
class ScriptedDetector final : public SpeechDetector {
 public:
  explicit ScriptedDetector(std::vector<float> script) : script_(std::move(script)) {}
  void push(std::span<const float> samples, std::vector<float>& probabilities) override {
    samples_ += samples.size();
    while ((window_ + 1) * kWindow <= samples_) probabilities.push_back(script_[window_++]);
  }
  void finish(std::vector<float>& probabilities) override {
    if (samples_ > window_ * kWindow) probabilities.push_back(script_[window_]);
  }

 private:
  std::vector<float> script_;
  std::size_t samples_ = 0, window_ = 0;
};

std::vector<Event> events_of(const UtteranceOptions& options, const std::vector<float>& script, std::size_t chunk) {
  UtteranceFinder finder(options, std::make_unique<ScriptedDetector>(script));
  std::vector<Event> events;
  for (std::size_t left = script.size() * kWindow - 100; left > 0; left -= std::min(left, chunk)) {
    const std::vector<float> samples(std::min(left, chunk));
    finder.push(samples, events);
  }
  finder.finish(events);
  return events;
}

// Returns `count` windows with the same probability.
std::vector<float> windows(std::size_t count, float probability) {
  return std::vector<float>(count, probability);
}
std::vector<float> operator+(std::vector<float> a, const std::vector<float>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(UtteranceFinder, AnUtteranceEndsInTheMiddleOfItsSilence) {
  // The silence begins at window 30 and lasts 0.5 s, 16 windows.
  const std::uint64_t start = 20 * kWindow - 3 * kSecond / 10, end = 30 * kWindow + kSecond / 4;
  EXPECT_THAT(events_of({}, windows(20, 0) + windows(10, 0.9F) + windows(20, 0.1F), 1'000),
              ElementsAre(Event{Kind::began, start}, Event{Kind::quiet, end}, Event{Kind::ended, end}));
  const auto clicks = windows(20, 0) + windows(2, 1) + windows(9, 0) + windows(2, 1) + windows(9, 0);
  EXPECT_THAT(events_of({}, clicks, 512), IsEmpty());
  const auto pause = windows(20, 1) + windows(12, 0) + windows(20, 1) + windows(4, 0.4F) + windows(3, 0);
  EXPECT_THAT(events_of({}, pause, 700),
              ElementsAre(Event{Kind::began, 0}, Event{Kind::quiet, 20 * kWindow + kSecond / 4},
                          Event{Kind::ended, pause.size() * kWindow - 100}));
}

TEST(UtteranceFinder, LongSpeechIsCutWhereItIsQuietest) {
  auto script = windows(400, 0.9F);
  script[60] = 0.6F;  // too early: in the first half of the utterance
  script[170] = 0.7F;
  const auto events = events_of({.max_utterance_s = 6}, script, 333);
  ASSERT_GE(events.size(), 3u);
  const std::uint64_t cut = 170 * kWindow + kWindow / 2;
  EXPECT_THAT(std::span(events).first(3),
              ElementsAre(Event{Kind::began, 0}, Event{Kind::ended, cut}, Event{Kind::began, cut}));
  // Each window is in exactly one utterance, and no utterance is longer.
  for (std::size_t i = 1; i + 1 < events.size(); i += 2) EXPECT_EQ(events[i].sample, events[i + 1].sample);
  for (std::size_t i = 0; i < events.size(); i += 2) {
    EXPECT_LE(events[i + 1].sample - events[i].sample, 6 * kSecond + kWindow);
  }
  EXPECT_EQ(events.back(), (Event{Kind::ended, 400 * kWindow - 100}));
}

TEST(UtteranceFinder, TheNextUtteranceBeginsBehindTheLastOne) {
  UtteranceFinder finder({.prefix_padding_ms = 2'000}, std::make_unique<ScriptedDetector>(windows(100, 1)));
  std::vector<Event> events;
  const std::vector<float> samples(5 * kWindow + 7);
  finder.push(samples, events);
  finder.end_utterance(events);
  finder.push(samples, events);
  EXPECT_THAT(events, ElementsAre(Event{Kind::began, 0}, Event{Kind::ended, samples.size()},
                                  Event{Kind::began, samples.size()}));
}

TEST(SpeechDetector, WithoutAModelSpeechIsWhatIsLouderThanBefore) {
  std::vector<float> samples = golden_noise(3, 4 * kSecond);
  const auto is_loud = [](std::size_t i) { return i / kSecond % 2 == 1; };
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] *= is_loud(i) ? 0.1F : 0.005F;
  const auto detector = make_speech_detector(nullptr);
  std::vector<float> probabilities;
  for (std::size_t i = 0; i < samples.size(); i += 100) {
    detector->push(std::span(samples).subspan(i, std::min<std::size_t>(100, samples.size() - i)), probabilities);
  }
  detector->finish(probabilities);
  ASSERT_EQ(probabilities.size(), samples.size() / kWindow);
  for (std::size_t window = 0; window < probabilities.size(); ++window) {
    if (is_loud(window * kWindow) != is_loud(window * kWindow + kWindow - 1)) continue;
    EXPECT_EQ(probabilities[window] > 0.5F, is_loud(window * kWindow)) << window;
  }
}

}  // namespace
}  // namespace encdec

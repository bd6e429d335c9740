// Tests forced alignment with the bundled speech model. Clips with known times are joined by silence.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "encdec/engine/base/error.h"
#include "encdec/speech/speech_model.h"
#include "tests/support/message_of.h"
#include "tools/speech/tests/golden_speech.h"
#include "tools/speech/tests/recordings.h"

namespace encdec {
namespace {

// The bundled clips, repeated `times` times, with silences of different length between them.
struct Joined {
  std::vector<float> samples;
  std::vector<Utterance> lines;

  explicit Joined(int times) {
    static constexpr std::array kSilences = {1.0, 0.5, 2.5, 0.3, 6.5};
    for (int i = 0; i < times; ++i) {
      for (const auto& [clip, said] : clips()) {
        const double begin = static_cast<double>(samples.size()) / AudioReader::kSampleRate;
        for (const Utterance& line : said) lines.push_back({line.text, begin + line.start, begin + line.end});
        std::vector<float> sound(1 << 20);
        sound.resize(Recording::of_file(clip_path(clip)).open()(sound));
        samples.insert(samples.end(), sound.begin(), sound.end());
        const double silence = kSilences[lines.size() % kSilences.size()];
        samples.resize(samples.size() + static_cast<std::size_t>(silence * AudioReader::kSampleRate));
      }
    }
  }
};

const SpeechModel& model() {
  static const SpeechModel loaded(Model::load(kNumbers, {.threads = 2}));
  return loaded;
}

bool is_aligned(const TranscriptWord& word) {
  return !std::isnan(word.start);
}

struct Count {
  std::size_t aligned = 0, unaligned = 0;
};
Count count(const Transcript& alignment) {
  Count count;
  for (const TranscriptSegment& line : alignment.segments) {
    for (const TranscriptWord& word : line.words) ++(is_aligned(word) ? count.aligned : count.unaligned);
  }
  return count;
}

// Aligns a text. Checks that times never decrease, that words have a length, and that lines have the times of their
// words.
Transcript align(const std::vector<float>& samples, const std::string& text, const SpeechModel& by = model()) {
  const Transcript alignment = by.align(Recording::of_samples(samples), text);
  double last = 0;
  for (const TranscriptSegment& line : alignment.segments) {
    std::vector<TranscriptWord> words;
    std::ranges::copy_if(line.words, std::back_inserter(words), is_aligned);
    for (const TranscriptWord& word : words) {
      EXPECT_LE(last, word.start) << word.text;
      EXPECT_LT(word.start, word.end) << word.text;
      last = word.end;
    }
    EXPECT_TRUE(words.empty() ? std::isnan(line.start) && std::isnan(line.end)
                              : line.start == words.front().start && line.end == words.back().end);
  }
  EXPECT_LE(last, alignment.duration);
  return alignment;
}

// Returns the errors of the starts and ends of lines whose first or last word is aligned, in ascending order.
std::vector<double> errors_of(const std::vector<TranscriptSegment>& found, const std::vector<Utterance>& said) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const TranscriptSegment& line = found.at(i);
    if (is_aligned(line.words.front())) errors.push_back(std::abs(line.start - said[i].start));
    if (is_aligned(line.words.back())) errors.push_back(std::abs(line.end - said[i].end));
  }
  std::ranges::sort(errors);
  return errors;
}

TEST(RecordingAligner, WordsOfALongRecordingGetTheirTimes) {
  const Joined joined(12);
  const std::string text = text_of(joined.lines);
  const Transcript alignment = align(joined.samples, text);
  ASSERT_EQ(alignment.segments.size(), joined.lines.size());
  EXPECT_EQ(alignment.text, text);
  EXPECT_LE(count(alignment).unaligned, joined.lines.size() / 10);  // the model mishears some words
  const std::vector<double> errors = errors_of(alignment.segments, joined.lines);
  EXPECT_GE(errors.size(), 2 * joined.lines.size() * 9 / 10);
  EXPECT_LT(errors[errors.size() / 2], 0.06);
  EXPECT_LT(errors[errors.size() * 95 / 100], 0.12);
}

TEST(RecordingAligner, WrongWordsAndLinesAreUnalignedAndTheOthersKeepTheirTimes) {
  Joined joined(8);
  std::size_t wrong = 0;
  for (std::size_t i = 1; i < joined.lines.size(); i += 3) {
    std::string& line = joined.lines[i].text;
    const std::size_t space = line.find(' ', 2);
    if (space == line.npos) continue;
    line = line.substr(0, space) + " elephant" + line.substr(line.find(' ', space + 1));
    ++wrong;
  }
  std::vector<Utterance> lines = joined.lines;
  lines.insert(lines.begin() + 6, {"the weather today is cold and wet and nobody wants to leave the house"});
  Transcript alignment = align(joined.samples, text_of(lines));
  ASSERT_EQ(alignment.segments.size(), lines.size());
  EXPECT_TRUE(std::isnan(alignment.segments[6].start));
  EXPECT_EQ(alignment.segments[6].words.front().text, " the");
  alignment.segments.erase(alignment.segments.begin() + 6);
  EXPECT_GE(count(alignment).unaligned, wrong);
  EXPECT_LE(count(alignment).unaligned, 2 * wrong);
  for (const TranscriptSegment& line : alignment.segments) {
    for (const TranscriptWord& word : line.words) EXPECT_FALSE(word.text == " elephant" && is_aligned(word));
  }
  const std::vector<double> errors = errors_of(alignment.segments, joined.lines);
  EXPECT_LT(errors[errors.size() * 95 / 100], 0.12);
}

TEST(RecordingAligner, SpeechThatIsNotInTheTextIsSkipped) {
  const Joined joined(1);
  const std::vector<Utterance> lines(joined.lines.begin() + 2, joined.lines.end());
  const std::vector<double> errors = errors_of(align(joined.samples, text_of(lines)).segments, lines);
  EXPECT_LT(errors[errors.size() / 2], 0.12);
}

TEST(RecordingAligner, TheTextOfAnotherRecordingIsMostlyUnaligned) {
  std::string text;
  for (int i = 0; i < 6; ++i) text += "somebody has left an old umbrella near our little boat\n";
  const Count found = count(align(Joined(3).samples, text));
  EXPECT_GT(found.unaligned, found.aligned);
  EXPECT_EQ(count(align(std::vector<float>(160'000), text)).aligned, 0u);
}

TEST(RecordingAligner, RefusesTextsThatCannotBeThatOfTheRecording) {
  const std::vector<float> second(16'000);
  const auto message = [](const std::vector<float>& samples, const std::string& text) {
    return message_of<InputError>([&] { align(samples, text); });
  };
  EXPECT_EQ(message(second, ""), "samples: a text of 0 bytes without a word, expected words to align");
  EXPECT_EQ(message(second, " ... \n"), "samples: a text of 6 bytes without a word, expected words to align");
  EXPECT_EQ(message({}, "one"), "samples: no audio, expected a recording of the text");
  EXPECT_THROW(align(second, "a \xFF"), TokenizerError);

  std::string words = "a ";
  while (words.size() < 128'161) words += "a ";
  EXPECT_EQ(message(second, words), "samples: a text of 128162 bytes, expected at most 128160 for 1.0 s of audio");
  // The maximum size of a text grows with the length of the recording.
  const Joined joined(1);
  const std::string text = text_of(joined.lines);
  const Transcript alignment = align(joined.samples, text + words), alone = align(joined.samples, text);
  for (std::size_t i = 0; i + 1 < joined.lines.size(); ++i) {
    EXPECT_EQ(alignment.segments[i].start, alone.segments[i].start);
    EXPECT_EQ(alignment.segments[i].end, alone.segments[i].end);
  }
}

// Random weights give random times, but each word is either aligned or unaligned.
TEST(RecordingAligner, AModelWithRandomWeightsAccountsForEveryWord) {
  const SpeechModel random(
      Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face", {.threads = 1}));
  const Transcript alignment = align(golden_noise(1, 48'000), "a b c d\nthe end of all things\nx", random);
  EXPECT_EQ(count(alignment).aligned + count(alignment).unaligned, 10u);
  EXPECT_EQ(alignment.segments.size(), 3u);
}

}  // namespace
}  // namespace encdec

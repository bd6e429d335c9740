// Tests the alignment of known texts with the bundled speech model: clips with known times, joined with silence.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <sstream>

#include "encdec/engine/base/error.h"
#include "encdec/speech/speech_model.h"
#include "encdec/speech/transcript/alignment_format.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

const std::string kNumbers = ENCDEC_PRETRAINED_DIR "/english-numbers";

// A line with its start and end in seconds.
struct Line {
  std::string text;
  double start = 0;
  double end = 0;
};

std::vector<float> samples_of(const std::string& file) {
  const Recording recording = Recording::of_file(file);
  std::vector<float> samples(1 << 20);
  samples.resize(recording.open()(samples));
  return samples;
}

// The bundled clips, `times` times, with silences of different length between them.
struct Joined {
  std::vector<float> samples;
  std::vector<Line> lines;

  explicit Joined(int times) {
    static constexpr std::array kSilences = {1.0, 0.5, 2.5, 0.3, 6.5};
    std::map<std::string, std::vector<Line>> clips;
    std::ifstream list(kNumbers + "/clips/clips.tsv");
    for (std::string row; std::getline(list, row);) {
      std::istringstream fields(row);
      std::string name, start, end, text;
      for (std::string* field : {&name, &start, &end, &text}) std::getline(fields, *field, '\t');
      clips[name].push_back({text, std::stod(start), std::stod(end)});
    }
    std::map<std::string, std::vector<float>> sounds;
    for (const auto& [name, said] : clips) sounds[name] = samples_of(kNumbers + "/clips/" + name);
    for (int i = 0; i < times; ++i) {
      for (const auto& [name, said] : clips) {
        const double begin = static_cast<double>(samples.size()) / AudioReader::kSampleRate;
        for (const Line& line : said) lines.push_back({line.text, begin + line.start, begin + line.end});
        samples.insert(samples.end(), sounds[name].begin(), sounds[name].end());
        const double silence = kSilences[lines.size() % kSilences.size()];
        samples.resize(samples.size() + static_cast<std::size_t>(silence * AudioReader::kSampleRate));
      }
    }
  }
  std::string text() const {
    std::string all;
    for (const Line& line : lines) all += line.text + "\n";
    return all;
  }
};

const SpeechModel& model() {
  static const SpeechModel loaded(Model::load(kNumbers, {.threads = 2}));
  return loaded;
}

Transcript align(const std::vector<float>& samples, const std::string& text) {
  return model().align(Recording::of_samples(samples), text);
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

// Checks that times never decrease, that words have a length, and that lines have the times of their words.
void check_order(const Transcript& alignment) {
  double last = 0;
  for (const TranscriptSegment& line : alignment.segments) {
    std::vector<TranscriptWord> words;
    std::ranges::copy_if(line.words, std::back_inserter(words), is_aligned);
    for (const TranscriptWord& word : words) {
      EXPECT_LE(last, word.start) << word.text;
      EXPECT_LT(word.start, word.end) << word.text;
      last = word.end;
    }
    if (words.empty()) {
      EXPECT_TRUE(std::isnan(line.start) && std::isnan(line.end));
    } else {
      EXPECT_EQ(line.start, words.front().start);
      EXPECT_EQ(line.end, words.back().end);
    }
  }
  EXPECT_LE(last, alignment.duration);
}

// Returns the errors of the starts and ends of lines whose first or last word is aligned, in ascending order.
std::vector<double> errors_of(const std::vector<TranscriptSegment>& found, const std::vector<Line>& said) {
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
  const Transcript alignment = align(joined.samples, joined.text());
  check_order(alignment);
  ASSERT_EQ(alignment.segments.size(), joined.lines.size());
  EXPECT_EQ(alignment.text, joined.text());
  EXPECT_LE(count(alignment).unaligned, joined.lines.size() / 10);  // the model mishears some words
  const std::vector<double> errors = errors_of(alignment.segments, joined.lines);
  EXPECT_GE(errors.size(), 2 * joined.lines.size() * 9 / 10);
  EXPECT_LT(errors[errors.size() / 2], 0.06);
  EXPECT_LT(errors[errors.size() * 95 / 100], 0.12);
}

TEST(RecordingAligner, WrongWordsAreUnalignedAndTheOthersKeepTheirTimes) {
  Joined joined(8);
  std::string text;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < joined.lines.size(); ++i) {
    std::string& line = joined.lines[i].text;
    const std::size_t space = line.find(' ', 2);
    if (i % 3 == 1 && space != line.npos) {
      line = line.substr(0, space) + " elephant" + line.substr(line.find(' ', space + 1));
      ++wrong;
    }
    text += line + "\n";
  }
  const Transcript alignment = align(joined.samples, text);
  check_order(alignment);
  EXPECT_GE(count(alignment).unaligned, wrong);
  EXPECT_LE(count(alignment).unaligned, 2 * wrong);
  for (const TranscriptSegment& line : alignment.segments) {
    for (const TranscriptWord& word : line.words) {
      if (word.text == " elephant") {
        EXPECT_FALSE(is_aligned(word));
      }
    }
  }
  const std::vector<double> errors = errors_of(alignment.segments, joined.lines);
  EXPECT_LT(errors[errors.size() * 95 / 100], 0.12);
}

TEST(RecordingAligner, ALineThatWasNotSaidIsUnaligned) {
  const Joined joined(4);
  std::vector<Line> lines = joined.lines;
  const Line extra{"the weather today is cold and wet and nobody wants to leave the house", 0, 0};
  lines.insert(lines.begin() + 6, extra);
  std::string text;
  for (const Line& line : lines) text += line.text + "\n";
  Transcript alignment = align(joined.samples, text);
  check_order(alignment);
  ASSERT_EQ(alignment.segments.size(), lines.size());
  EXPECT_TRUE(std::isnan(alignment.segments[6].start));
  EXPECT_EQ(alignment.segments[6].words.front().text, " the");
  alignment.segments.erase(alignment.segments.begin() + 6);
  const std::vector<double> errors = errors_of(alignment.segments, joined.lines);
  EXPECT_GE(errors.size(), 2 * joined.lines.size() - 4);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.12);
}

TEST(RecordingAligner, SpeechThatIsNotInTheTextIsSkipped) {
  const Joined joined(1);
  const std::vector<Line> lines(joined.lines.begin() + 2, joined.lines.end());
  std::string text;
  for (const Line& line : lines) text += line.text + "\n";
  const Transcript alignment = align(joined.samples, text);
  check_order(alignment);
  const std::vector<double> errors = errors_of(alignment.segments, lines);
  EXPECT_LT(errors[errors.size() / 2], 0.12);
}

TEST(RecordingAligner, TheTextOfAnotherRecordingIsMostlyUnaligned) {
  const Joined joined(3);
  std::string text;
  for (int i = 0; i < 6; ++i) text += "somebody has left an old umbrella near our little boat\n";
  const Transcript alignment = align(joined.samples, text);
  EXPECT_GT(count(alignment).unaligned, count(alignment).aligned);
  EXPECT_EQ(count(align(std::vector<float>(160'000), text)).aligned, 0u);
}

TEST(RecordingAligner, AQueueAlignsAsTheModelDoes) {
  const Joined joined(3);
  const std::string text = joined.text();
  const std::string alone = format_alignment(align(joined.samples, text), AlignmentFormat::json);
  RequestQueue queue(model().model(), {.workers = 2});
  std::vector<Transcript> found(4);
  std::vector<Request> requests;
  {
    std::vector<std::promise<void>> ends(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      Recording recording = Recording::of_samples(joined.samples);
      if (i % 2 == 0) recording.text = text;  // the others are transcribed
      requests.push_back(model().submit(queue, std::move(recording), {},
                                        {.on_result =
                                             [&, i](Transcript result) {
                                               result.segments = std::move(found[i].segments);
                                               found[i] = std::move(result);
                                               ends[i].set_value();
                                             },
                                         .on_failure = [&, i](std::exception_ptr) { ends[i].set_value(); },
                                         .on_segments =
                                             [&, i](std::span<const TranscriptSegment> segments) {
                                               auto& all = found[i].segments;
                                               all.insert(all.end(), segments.begin(), segments.end());
                                             }}));
    }
    for (auto& end : ends) end.get_future().wait();
  }
  for (std::size_t i = 0; i < found.size(); i += 2) {
    EXPECT_EQ(format_alignment(found[i], AlignmentFormat::json), alone);
  }
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
}

TEST(RecordingAligner, TheLengthOfTheRecordingLimitsTheText) {
  std::string words = "a ";
  while (words.size() < 128'161) words += "a ";
  EXPECT_EQ(message_of<InputError>([&] { align(std::vector<float>(16'000), words); }),
            "samples: a text of 128162 bytes, expected at most 128160 for 1.0 s of sound");
  // The text of a recording may go on for long, and a longer recording may have more text.
  const Joined joined(1);
  const Transcript alignment = align(joined.samples, joined.text() + words);
  const Transcript alone = align(joined.samples, joined.text());
  for (std::size_t i = 0; i + 1 < joined.lines.size(); ++i) {
    EXPECT_EQ(alignment.segments[i].start, alone.segments[i].start);
    EXPECT_EQ(alignment.segments[i].end, alone.segments[i].end);
  }
}

// Random weights give random times, but every word is accounted for.
TEST(RecordingAligner, AModelWithRandomWeightsAccountsForEveryWord) {
  const SpeechModel random(
      Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face", {.threads = 1}));
  std::vector<float> samples(48'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i * 7919 % 2000) / 2000 - 0.5f;
  const Transcript alignment = random.align(Recording::of_samples(samples), "a b c d\nthe end of all things\nx");
  check_order(alignment);
  EXPECT_EQ(count(alignment).aligned + count(alignment).unaligned, 10u);
  EXPECT_EQ(alignment.segments.size(), 3u);
}

}  // namespace
}  // namespace encdec

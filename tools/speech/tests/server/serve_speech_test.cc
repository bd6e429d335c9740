// Tests limits, timeouts and cancellation of encdec serve with recordings. test_speech.py tests the protocol.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/tools/serve_process.h"
#include "tools/speech/tests/audio/wav_writer.h"

namespace encdec {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kWhisper = std::string(ENCDEC_GOLDEN_DIR) + "/whisper_formats/hugging_face";
const std::string kPath = "/v1/audio/transcriptions";

// Returns a WAV file of noise with 16-bit samples.
std::string sound(double seconds) {
  std::vector<std::int16_t> samples(static_cast<std::size_t>(seconds * 16'000));
  std::uint32_t state = 1;
  for (std::int16_t& sample : samples) {
    state = state * 1'664'525 + 1'013'904'223;
    sample = static_cast<std::int16_t>((state >> 18) - 8192);
  }
  return WavFile{.samples = raw(samples)}.bytes();
}

// A POST request with a file and one more field.
struct Form {
  std::string file;
  std::string field = "model", value = {};
  std::string path = kPath;
  std::string headers = {};

  std::string text() const {
    const std::string disposition = "--x\r\nContent-Disposition: form-data; name=";
    const std::string body = fmt::format("{}\"{}\"\r\n\r\n{}\r\n{}\"file\"; filename=\"a.wav\"\r\n\r\n{}\r\n--x--\r\n",
                                         disposition, field, value, disposition, file);
    return fmt::format(
        "POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        "Content-Length: {}\r\n{}\r\n{}",
        path, body.size(), headers, body);
  }
};

std::string response_to(const ServeProcess& server, const std::string& request) {
  Connection connection(server.socket());
  connection.send(request);
  return connection.receive();
}

std::string response_to(const ServeProcess& server, const Form& form) {
  return response_to(server, form.text());
}

TEST(ServeSpeech, ARecordingThatEndsEarlyIsToldInTheAnswer) {
  const ServeProcess server({"--model", kWhisper});
  const std::string file = sound(1.7), cut = file.substr(0, file.size() - 10'000), told = "the recording ends before";
  for (const char* format : {"json", "verbose_json", "text", "srt", "vtt"}) {
    EXPECT_THAT(response_to(server, {cut, "response_format", format}), HasSubstr("Warning: 299 - \"" + told)) << format;
    EXPECT_THAT(response_to(server, {file, "response_format", format}), testing::Not(HasSubstr(told))) << format;
  }
  EXPECT_THAT(response_to(server, Form{cut}), HasSubstr("\"warning\":\"" + told));
  EXPECT_THAT(response_to(server, {cut, "stream", "true"}), HasSubstr(told));
}

TEST(ServeSpeech, RecordingsHaveTheirOwnLimits) {
  const ServeProcess server({"--model", kWhisper, "--max-body-bytes", "1000", "--max-recording-bytes", "100000",
                             "--max-recording-seconds", "2"});
  const std::string small = sound(2.0), large = sound(4.0);
  EXPECT_EQ(status_of(response_to(server, Form{small})), "200");
  const auto refused = [](const std::string& part) { return AllOf(StartsWith("HTTP/1.1 413"), HasSubstr(part)); };
  const auto many_bytes = refused("more than 100000 bytes"),
             long_sound = refused("more than 2 s (--max-recording-seconds)");
  EXPECT_THAT(response_to(server, Form{large}), many_bytes);
  const std::string head = "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_THAT(response_to(server, head + fmt::format("{:x}\r\n{}\r\n", large.size(), large)), many_bytes);
  EXPECT_THAT(response_to(server, {.file = small, .path = "/translate_file"}), refused("more than 1000 bytes"));
  EXPECT_THAT(server.get("/info"), HasSubstr("\"max_recording_bytes\":100000"));
  EXPECT_THAT(response_to(server, Form{sound(2.1)}), long_sound);
  // The header of this file does not state its length.
  const std::string samples = raw(std::vector<std::int16_t>(40'000));
  EXPECT_THAT(response_to(server, Form{WavFile{.samples = samples, .data_size = 0xffff'ffff}.bytes()}), long_sound);
}

TEST(ServeSpeech, WorkForAClientThatDisconnectsIsCancelled) {
  const ServeProcess server({"--model", kWhisper});
  const std::string tokens = "encdec_generated_tokens_total{model=\"hugging_face\"}";
  {
    const Connection gone(server.socket());
    gone.send(Form{sound(600)}.text());
    while (server.metric(tokens) == 0) std::this_thread::yield();
  }
  while (server.metric("encdec_requests_running") > 1) std::this_thread::yield();  // 1: this one
  EXPECT_EQ(server.metric("encdec_requests_abandoned_total{route=\"/v1/audio/transcriptions\"}"), 1);
  EXPECT_EQ(server.metric("encdec_audio_seconds_total{model=\"hugging_face\"}"), 0);
  EXPECT_EQ(status_of(response_to(server, Form{sound(0.5)})), "200");
}

// Transcribing hours of audio takes longer than the timeout. The next request must not wait for it.
TEST(ServeSpeech, ATimeoutStopsTheTranscription) {
  const ServeProcess server({"--model", kWhisper});
  const std::string hours = WavFile{.rate = 2000, .bits = 8, .samples = std::string(25'000'000, 'x')}.bytes();
  const std::string late = response_to(server, {.file = hours, .headers = "X-Request-Timeout-Ms: 100\r\n"});
  EXPECT_EQ(status_of(late), "504") << late;
  EXPECT_EQ(status_of(response_to(server, {.file = sound(0.5), .headers = "X-Request-Timeout-Ms: 10000\r\n"})), "200");
  EXPECT_EQ(server.metric("encdec_audio_seconds_total{model=\"hugging_face\"}"), 0.5);
}

}  // namespace
}  // namespace encdec

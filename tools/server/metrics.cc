#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <vector>

#include "encdec/engine/base/machine.h"

namespace encdec::serve {
namespace {

namespace prom = prometheus;

// Upper bounds of histogram buckets, in seconds: kSeconds for requests and waiting times, kTokenSeconds for tokens.
const prom::Histogram::BucketBoundaries kSeconds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
const prom::Histogram::BucketBoundaries kTokenSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                         0.05,   0.1,   0.25,   0.5,   1};

using Counters = prom::Family<prom::Counter>;
using Histograms = prom::Family<prom::Histogram>;

}  // namespace

struct Metrics::Families {
  Counters& counter(const char* name, const char* help) {
    return prom::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Histograms& histogram(const char* name, const char* help) {
    return prom::BuildHistogram().Name(name).Help(help).Register(registry);
  }
  ModelMetrics::Add adder(const char* name, const char* help, const std::string& model,
                          const prom::Histogram::BucketBoundaries& buckets) {
    return [&metric = histogram(name, help).Add({{"model", model}}, buckets)](double value) { metric.Observe(value); };
  }
  prom::Gauge& gauge(const char* name, const char* help) {
    return prom::BuildGauge().Name(name).Help(help).Register(registry).Add({});
  }

  prom::Registry registry;
  Counters& requests = counter("encdec_requests_total", "Requests that got a response");
  Counters& cut =
      counter("encdec_requests_abandoned_total", "Requests whose clients disconnected before the end of the response");
  Histograms& seconds = histogram("encdec_request_seconds", "Time from a request's header to the end of its response");
  prom::Gauge& running = gauge("encdec_requests_running", "Requests that wait or run");
  prom::Gauge& live_sessions = gauge("encdec_live_sessions", "Open sessions of live transcription");
  prom::Gauge& connections = gauge("encdec_connections", "Open connections");
  prom::Counter& refused =
      counter("encdec_connections_refused_total", "Connections refused because there were too many").Add({});
  prom::Gauge& memory = gauge("encdec_resident_bytes", "Resident memory of the process");
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}

Metrics::~Metrics() = default;

void Metrics::count_request(std::string_view route, int status, double seconds, bool is_aborted) {
  const std::string name(route);
  families_->requests.Add({{"route", name}, {"status", std::to_string(status)}}).Increment();
  families_->seconds.Add({{"route", name}}, kSeconds).Observe(seconds);
  if (is_aborted) families_->cut.Add({{"route", name}}).Increment();
}

void Metrics::set_requests(std::size_t running) {
  families_->running.Set(static_cast<double>(running));
}

void Metrics::set_live_sessions(std::size_t open) {
  families_->live_sessions.Set(static_cast<double>(open));
}

void Metrics::set_connections(std::size_t open) {
  families_->connections.Set(static_cast<double>(open));
}

void Metrics::count_refused_connection() {
  families_->refused.Increment();
}

ModelMetrics Metrics::model(const std::string& name) {
  return {.source_tokens = counter("encdec_source_tokens_total", "Tokens of inputs", name),
          .generated_tokens = counter("encdec_generated_tokens_total", "Generated tokens", name),
          .queue_seconds = histogram("encdec_queue_seconds", "Time that an input waited in the queue", name),
          .first_token_seconds =
              histogram("encdec_first_token_seconds", "Time to the first token of a streamed response", name),
          .token_seconds =
              families_->adder("encdec_token_seconds", "Computing time of a result per token of its longest hypothesis",
                               name, kTokenSeconds)};
}

ModelMetrics::Add Metrics::counter(const char* name, const char* help, const std::string& model) {
  return [&metric = families_->counter(name, help).Add({{"model", model}})](double value) { metric.Increment(value); };
}

ModelMetrics::Add Metrics::histogram(const char* name, const char* help, const std::string& model) {
  return families_->adder(name, help, model, kSeconds);
}

std::string Metrics::text(const std::map<std::string, QueueStatus>& queues) const {
  families_->memory.Set(static_cast<double>(resident_bytes()));
  std::vector<prom::MetricFamily> families = families_->registry.Collect();
  using Type = prom::MetricType;
  // Adds a metric with one value per model: value_of(status of the model's queue).
  const auto add = [&](const char* name, const char* help, Type type, const auto& value_of) {
    prom::MetricFamily& family = families.emplace_back(prom::MetricFamily{name, help, type, {}});
    for (const auto& [model, status] : queues) {
      prom::ClientMetric& metric = family.metric.emplace_back();
      metric.label.push_back({"model", model});
      (type == Type::Counter ? metric.counter.value : metric.gauge.value) = static_cast<double>(value_of(status));
    }
  };
  add("encdec_waiting_sources", "Inputs that wait in the queue", Type::Gauge,
      [](const QueueStatus& status) { return status.waiting; });
  add("encdec_steps_total", "Decoder steps, and encoder passes over texts", Type::Counter,
      [](const QueueStatus& status) { return status.steps; });
  add("encdec_step_rows_total", "Sequences in all steps; divided by encdec_steps_total, the mean batch size",
      Type::Counter, [](const QueueStatus& status) { return status.rows; });
  add("encdec_draft_tokens_total", "Draft tokens that the model verified", Type::Counter,
      [](const QueueStatus& status) { return status.draft_tokens; });
  add("encdec_accepted_tokens_total", "Draft tokens that the model accepted", Type::Counter,
      [](const QueueStatus& status) { return status.accepted_tokens; });
  add("encdec_silence_seconds", "Time since a busy model last made progress", Type::Gauge,
      [](const QueueStatus& status) { return status.silence.count(); });
  return prom::TextSerializer().Serialize(families);
}

}  // namespace encdec::serve

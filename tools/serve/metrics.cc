#include "metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "resources.h"

namespace encdec::serve {
namespace {

namespace prom = prometheus;

const prom::Histogram::BucketBoundaries kSeconds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

}  // namespace

struct Metrics::Families {
  prom::Registry registry;
  prom::Family<prom::Counter>& requests =
      prom::BuildCounter().Name("encdec_requests_total").Help("Requests that were answered").Register(registry);
  prom::Family<prom::Counter>& cut = prom::BuildCounter()
                                         .Name("encdec_requests_abandoned_total")
                                         .Help("Requests whose clients did not wait for the answer")
                                         .Register(registry);
  prom::Family<prom::Histogram>& seconds = prom::BuildHistogram()
                                               .Name("encdec_request_seconds")
                                               .Help("Time from a request's header to the end of its answer")
                                               .Register(registry);
  prom::Family<prom::Counter>& read =
      prom::BuildCounter().Name("encdec_source_tokens_total").Help("Tokens that were read").Register(registry);
  prom::Family<prom::Counter>& generated =
      prom::BuildCounter().Name("encdec_generated_tokens_total").Help("Tokens that were generated").Register(registry);
  prom::Gauge& running =
      prom::BuildGauge().Name("encdec_requests_running").Help("Requests that wait or run").Register(registry).Add({});
  prom::Gauge& memory = prom::BuildGauge()
                            .Name("encdec_resident_bytes")
                            .Help("Memory of the process that is resident")
                            .Register(registry)
                            .Add({});
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}

Metrics::~Metrics() = default;

void Metrics::count_request(std::string_view route, int status, double seconds, bool is_cut) {
  const std::string name(route);
  families_->requests.Add({{"route", name}, {"status", std::to_string(status)}}).Increment();
  families_->seconds.Add({{"route", name}}, kSeconds).Observe(seconds);
  if (is_cut) families_->cut.Add({{"route", name}}).Increment();
}

void Metrics::count_tokens(const std::string& model, std::size_t read, std::size_t generated) {
  families_->read.Add({{"model", model}}).Increment(static_cast<double>(read));
  if (generated > 0) families_->generated.Add({{"model", model}}).Increment(static_cast<double>(generated));
}

void Metrics::set_requests(std::size_t running) {
  families_->running.Set(static_cast<double>(running));
}

std::string Metrics::text() const {
  families_->memory.Set(static_cast<double>(cli::resident_bytes()));
  return prom::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace encdec::serve

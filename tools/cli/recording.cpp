// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/recording.hpp"

#include <cstdio>
#include <utility>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "tools/reports/output_file.hpp"
#include "tools/timeline/cause.hpp"
#include "tools/timeline/chrome_trace.hpp"
#include "tools/timeline/deferred.hpp"
#include "tools/timeline/gzip.hpp"
#include "tools/timeline/profile.hpp"
#include "tools/timeline/vcd.hpp"
#include "workloads/simulator/profile_sections.hpp"
#include "workloads/simulator/recorded_file.hpp"
#include "workloads/simulator/track_capacities.hpp"

namespace npu::cli {

using workloads::RecordedFile;

namespace {

tl::expected<timeline::Filter, Failure> make_filter(const Options& options) {
  timeline::Filter filter;
  filter.units = options.trace_units;
  if (!options.trace_window.empty()) {
    if (auto ok = filter.set_window(options.trace_window); !ok) {
      return bad_input("--trace-window: " + ok.error().context);
    }
  }
  for (const auto& text : options.trace_causes) {
    const auto cause = timeline::parse_cause(text);
    if (!cause) return bad_input("--trace-cause: " + cause.error().context);
    filter.causes.push_back(*cause);
  }
  return filter;
}

// Of a run that did not come to its end, in one word: "interrupted" or "failed".
std::string remark(const reports::Report& report) {
  if (report.outcome == reports::kComplete) return {};
  return "not complete: " + report.outcome.substr(0, report.outcome.find(':'));
}

}  // namespace

// What hears the events, and where it writes.
class Recording::Parts {
 public:
  void write_trace(reports::OutputFile file, bool compressed, timeline::Filter filter) {
    file_ = std::make_unique<RecordedFile>(std::move(file));
    if (compressed) gzip_ = std::make_unique<timeline::Gzip>(*file_);
    timeline::ByteSink& out = gzip_ ? static_cast<timeline::ByteSink&>(*gzip_) : *file_;
    trace_ = std::make_unique<timeline::ChromeTrace>(
        out, std::move(filter), [this](std::uint32_t track) { return events_->name(track); });
  }
  void write_vcd(reports::OutputFile file, timeline::Filter filter) {
    vcd_file_ = std::make_unique<RecordedFile>(std::move(file));
    vcd_ = std::make_unique<timeline::Vcd>(
        *vcd_file_, std::move(filter),
        [this](std::uint32_t track) { return events_->name(track); });
  }
  // Of both files.
  void set_filter(timeline::Filter filter) { filter_ = std::move(filter); }
  void make_profile() {
    profile_ = std::make_unique<timeline::Profile>(
        [this](std::uint32_t track) { return events_->name(track); });
  }

  void begin(workloads::TraceSource& source) {
    std::vector<platform::TraceSink*> consumers;
    if (trace_) {
      cards_ = source.bus_addresses();
      trace_->set_bus_addresses(cards_);
      consumers.push_back(trace_.get());
    }
    if (vcd_) consumers.push_back(vcd_.get());
    if (profile_) {
      for (auto* const sink : profile_->sinks()) consumers.push_back(sink);
    }
    events_ = std::make_unique<timeline::Deferred>(
        std::move(consumers), [&source](std::uint32_t track) { return source.track_name(track); });
    source.add(*events_);
  }
  void end(workloads::TraceSource& source, const workloads::SimulatorView& simulator) {
    source.remove(*events_);
    events_->finish();
    capacities_ = workloads::TrackCapacities(simulator);
  }
  void complete(reports::Report& report, const model::SystemConfig& config) {
    if (!profile_) return;
    workloads::add_profile(
        report, *profile_, [this](std::uint32_t track) { return events_->name(track); },
        capacities_, config);
  }
  Outcome write(const reports::Report& report) {
    const auto unknown = events_ ? filter_.unknown_unit(events_->names()) : std::string();
    if (!unknown.empty()) {
      std::fprintf(stderr, "npusim: --trace-unit %s: nothing of that name has done anything\n",
                   shortened(unknown).c_str());
    } else if (is_empty() && !filter_.is_all()) {
      std::fprintf(stderr, "npusim: the timeline is empty: nothing passes its filters\n");
    }
    if (vcd_) {
      if (auto done = vcd_->finish(remark(report)); !done) return failure(done.error().context);
      if (vcd_->left_out() != 0) {
        std::fprintf(
            stderr,
            "npusim: --vcd: %s later events found no room; choose fewer by --trace-unit or "
            "--trace-window\n",
            std::to_string(vcd_->left_out()).c_str());
      }
    }
    if (!trace_) return {};
    auto about = workloads::about_run(report);
    for (const auto& each : cards_) {
      if (each.first.rfind("card", 0) == 0) about.push_back(each);
    }
    if (const Status done = trace_->finish(about); !done) return failure(done.error().context);
    return {};
  }

 private:
  bool is_empty() const { return (trace_ && trace_->events() == 0) || (vcd_ && vcd_->is_empty()); }

  std::unique_ptr<RecordedFile> file_;
  std::unique_ptr<timeline::Gzip> gzip_;
  std::unique_ptr<timeline::ChromeTrace> trace_;
  std::unique_ptr<RecordedFile> vcd_file_;
  std::unique_ptr<timeline::Vcd> vcd_;
  std::unique_ptr<timeline::Profile> profile_;
  std::unique_ptr<timeline::Deferred> events_;  // ends before those that it tells
  workloads::TrackCapacities capacities_;
  timeline::Filter filter_;
  timeline::BusAddresses cards_;  // and their links and drivers
};

Recording::Recording() = default;
Recording::Recording(Recording&&) noexcept = default;
Recording::~Recording() = default;

tl::expected<Recording, Failure> Recording::open(const Options& options) {
  Recording recording;
  const bool profile = options.profile || !options.html.empty();
  if (options.trace.empty() && options.vcd.empty() && !profile) return recording;
  recording.parts_ = std::make_unique<Parts>();
  if (profile) recording.parts_->make_profile();
  const auto filter = make_filter(options);
  if (!filter) return tl::unexpected(filter.error());
  recording.parts_->set_filter(*filter);
  for (const bool vcd : {false, true}) {
    const std::string& path = vcd ? options.vcd : options.trace;
    if (path.empty()) continue;
    auto file = reports::OutputFile::open(vcd ? "--vcd " : "--trace ", path);
    if (!file) return tl::unexpected(to_failure(file.error(), file.error().context));
    if (vcd) {
      recording.parts_->write_vcd(std::move(*file), *filter);
    } else {
      recording.parts_->write_trace(std::move(*file), ends_with(path, ".gz"), *filter);
    }
  }
  return recording;
}

void Recording::begin(workloads::TraceSource& source) {
  if (parts_) parts_->begin(source);
}

void Recording::end(workloads::TraceSource& source, const workloads::SimulatorView& simulator) {
  if (parts_) parts_->end(source, simulator);
}

void Recording::complete(reports::Report& report, const model::SystemConfig& config) {
  if (parts_) parts_->complete(report, config);
}

Outcome Recording::write(const reports::Report& report) {
  return parts_ ? parts_->write(report) : Outcome();
}

}  // namespace npu::cli

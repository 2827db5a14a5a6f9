// SPDX-License-Identifier: Apache-2.0
#include "cli/recording.hpp"

#include <utility>

#include "reports/output_file.hpp"
#include "timeline/cause.hpp"
#include "timeline/gzip.hpp"

namespace npu::cli {
namespace {

// What is written reaches the file's place when it is complete.
class FileSink : public timeline::ByteSink {
 public:
  explicit FileSink(reports::OutputFile file) : file_(std::move(file)) {}
  Status append(ConstByteSpan bytes) override { return file_.append(bytes); }
  Status finish() override { return file_.commit(); }

 private:
  reports::OutputFile file_;
};

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

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

}  // namespace

class Recording::File {
 public:
  File(reports::OutputFile file, bool compressed, timeline::Filter filter)
      : file_(std::move(file)), filter_(std::move(filter)) {
    if (compressed) gzip_ = std::make_unique<timeline::Gzip>(file_);
  }

  void begin(workloads::TraceSource& source) {
    timeline::ByteSink& out = gzip_ ? static_cast<timeline::ByteSink&>(*gzip_) : file_;
    trace_ = std::make_unique<timeline::ChromeTrace>(
        out, filter_, [&source](std::uint32_t track) { return source.track_name(track); });
    source.add(*trace_);
  }
  void end(workloads::TraceSource& source) {
    source.remove(*trace_);
    trace_->complete();
  }
  Outcome write(const reports::Report& report) {
    const Status done =
        trace_->finish({{"npusim", report.version},
                        {"workload", report.workload},
                        {"config", report.config},
                        {"config_sha256", report.config_sha256},
                        {"seed", std::to_string(report.seed)},
                        {"simulated_ps", std::to_string(report.simulated.count())}});
    if (!done) return failure(done.error().context);
    return {};
  }

 private:
  FileSink file_;
  std::unique_ptr<timeline::Gzip> gzip_;
  timeline::Filter filter_;
  std::unique_ptr<timeline::ChromeTrace> trace_;
};

Recording::Recording() = default;
Recording::Recording(Recording&&) noexcept = default;
Recording::~Recording() = default;

tl::expected<Recording, Failure> Recording::open(const Options& options) {
  Recording recording;
  if (options.trace.empty()) return recording;
  auto filter = make_filter(options);
  if (!filter) return tl::unexpected(filter.error());
  auto file = reports::OutputFile::open("--trace ", options.trace);
  if (!file) return tl::unexpected(to_failure(file.error(), file.error().context));
  recording.trace_ =
      std::make_unique<File>(std::move(*file), ends_with(options.trace, ".gz"), std::move(*filter));
  return recording;
}

void Recording::begin(workloads::TraceSource& source) {
  if (trace_) trace_->begin(source);
}

void Recording::end(workloads::TraceSource& source) {
  if (trace_) trace_->end(source);
}

Outcome Recording::write(const reports::Report& report) {
  return trace_ ? trace_->write(report) : Outcome();
}

}  // namespace npu::cli

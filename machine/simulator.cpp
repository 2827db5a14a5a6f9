// SPDX-License-Identifier: Apache-2.0
#include "npu/sim/simulator.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "machine/simulator_impl.hpp"
#include "model/config/load.hpp"
#include "model/config/short_keys.hpp"
#include "tools/reports/html/page.hpp"
#include "tools/reports/output_file.hpp"
#include "tools/reports/report_json.hpp"
#include "workloads/simulator/fault_checks.hpp"
#include "workloads/simulator/identity.hpp"
#include "workloads/simulator/profile_sections.hpp"

namespace npu::sim {
namespace {

// PREFIX/lib[/TRIPLET]/libnpusim.so -> PREFIX/share/npusim/configs; TREE/build/PRESET/lib -> TREE
std::vector<std::string> config_directories() {
  namespace fs = std::filesystem;
  static const char kAnchor = 0;
  Dl_info library{};
  if (dladdr(&kAnchor, &library) == 0 || library.dli_fname == nullptr) return {};
  std::error_code code;
  const fs::path folder = fs::canonical(library.dli_fname, code).parent_path();
  if (code) return {};
  std::vector<std::string> found;
  for (const auto* place :
       {"../share/npusim/configs", "../../share/npusim/configs", "../../../configs"}) {
    const fs::path configs = (folder / place).lexically_normal();
    if (fs::is_directory(configs, code)) found.push_back(configs.string());
  }
  return found;
}

bool process_has_simulator = false;

Result<model::SystemConfig> load(const std::string& config,
                                 const std::vector<std::string>& overrides) {
  std::vector<std::string> full;
  full.reserve(overrides.size());
  for (const auto& each : overrides) full.push_back(model::full_override(each));
  auto loaded = model::load_system(config, full, config_directories());
  if (!loaded) return fail(ErrorCode::kInvalidArgument, loaded.error().message());
  if (auto faults = workloads::configured_faults(*loaded); !faults) return forward_error(faults);
  return std::move(*loaded);
}

}  // namespace

Simulator::Simulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Simulator::~Simulator() = default;

Result<std::unique_ptr<Simulator>> Simulator::create(const std::string& config,
                                                     const std::vector<std::string>& overrides) {
  if (process_has_simulator) {
    return fail(ErrorCode::kAlreadyExists, "this process has had its simulator");
  }
  const auto loaded = load(config, overrides);
  if (!loaded) return forward_error(loaded);
  process_has_simulator = true;
  return std::unique_ptr<Simulator>(
      new Simulator(std::make_unique<Impl>(*loaded, config, overrides)));
}

Status Simulator::check(const std::string& config, const std::vector<std::string>& overrides) {
  const auto loaded = load(config, overrides);
  if (!loaded) return forward_error(loaded);
  return {};
}

Status Simulator::run(std::function<void(platform::Platform&)> program) {
  if (!impl_->outcome.empty()) return fail(ErrorCode::kTimeout, "an earlier program never ended");
  auto status = impl_->system.run(std::move(program));
  if (status) return status;
  const auto& error = status.error();
  impl_->outcome = error.code == ErrorCode::kAborted ? "interrupted" : "failed: " + error.message();
  return status;
}

void Simulator::attend(const std::atomic<bool>& raised, std::function<bool()> look) {
  impl_->system.attend(raised, std::move(look));
}

unsigned Simulator::cards() const {
  return impl_->system.cards();
}

namespace {

reports::Report report_of(const std::string& workload, Simulator::Impl& impl) {
  auto report =
      workloads::begin_report(workload, impl.config_name, impl.system.config(), impl.overrides);
  workloads::add_machine(report, impl.view);
  if (!impl.outcome.empty()) report.outcome = impl.outcome;
  return report;
}

}  // namespace

std::string Simulator::report(const std::string& workload) const {
  return reports::to_json(report_of(workload, *impl_));
}

void Simulator::record() {
  end_recording();
  impl_->recorded = std::make_unique<timeline::Profile>(
      [&view = impl_->view](std::uint32_t track) { return view.track_name(track); });
  for (auto* const sink : impl_->recorded->sinks()) add(*sink);
}

std::string Simulator::profile(const std::string& workload) {
  auto report = report_of(workload, *impl_);
  if (impl_->recorded) {
    const auto& view = impl_->view;
    workloads::add_profile(
        report, *impl_->recorded, [&](std::uint32_t track) { return view.track_name(track); },
        workloads::TrackCapacities(view), impl_->system.config());
  }
  end_recording();
  return reports::to_json(report);
}

void Simulator::end_recording() {
  if (!impl_->recorded) return;
  for (auto* const sink : impl_->recorded->sinks()) remove(*sink);
  impl_->recorded.reset();
}

Status Simulator::begin_trace(const std::string& path) {
  if (impl_->trace) return fail(ErrorCode::kBusy, "a timeline is being written");
  auto file = reports::OutputFile::open("trace", path);
  if (!file) return forward_error(file);
  impl_->trace_file = std::make_unique<workloads::RecordedFile>(std::move(*file));
  impl_->trace = std::make_unique<timeline::ChromeTrace>(
      *impl_->trace_file, timeline::Filter(),
      [&view = impl_->view](std::uint32_t track) { return view.track_name(track); });
  impl_->trace->set_bus_addresses(impl_->view.bus_addresses());
  add(*impl_->trace);
  return {};
}

Status Simulator::end_trace(const std::string& workload) {
  if (!impl_->trace) return {};
  remove(*impl_->trace);
  impl_->trace->complete();
  auto about = workloads::about_run(report_of(workload, *impl_));
  for (const auto& each : impl_->view.bus_addresses()) {
    if (each.first.rfind("card", 0) == 0) about.push_back(each);
  }
  auto written = impl_->trace->finish(about);
  impl_->trace.reset();
  impl_->trace_file.reset();
  return written;
}

Status Simulator::write_page(const std::string& path, const std::string& report) {
  auto file = reports::OutputFile::open("html", path);
  if (!file) return forward_error(file);
  if (auto ok = file->append(reports::html_page(report)); !ok) return ok;
  return file->commit();
}

Instant Simulator::now() const {
  return model::instant(model::sim_now());
}

void Simulator::add(platform::TraceSink& sink) {
  impl_->system.simulation().recorder.add(sink);
}

void Simulator::remove(platform::TraceSink& sink) {
  impl_->system.simulation().recorder.remove(sink);
}

}  // namespace npu::sim

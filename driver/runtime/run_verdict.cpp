// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/run_verdict.hpp"

#include <fmt/format.h>

#include "driver/queue/fault_text.hpp"

namespace npu::driver {
namespace {

constexpr std::uint32_t kNobody = 0xFFFF'FFFF;

std::string_view status_name(abi::RunStatus status) {
  switch (status) {
    case abi::RunStatus::kOk:
      return "done";
    case abi::RunStatus::kRunning:
      return "the scheduler never ended";
    case abi::RunStatus::kBadHeader:
      return "malformed run";
    case abi::RunStatus::kNotCoresident:
      return "more blocks together than cores";
    case abi::RunStatus::kTimeout:
      return "no progress";
    case abi::RunStatus::kReadyOverflow:
      return "ready queue overflow";
    case abi::RunStatus::kKernelFailed:
      return "kernel failed";
    case abi::RunStatus::kCoreException:
      return "core exception";
    case abi::RunStatus::kCoreMissing:
      return "core missing";
  }
  return "unknown status";
}

std::string_view reason_name(abi::StallReason reason) {
  switch (reason) {
    case abi::StallReason::kNone:
      return "";
    case abi::StallReason::kRunning:
      return ": a task does not end";
    case abi::StallReason::kReady:
      return ": a task is ready and no core takes it";
    case abi::StallReason::kWaiting:
      return ": a task waits for others that never end";
    case abi::StallReason::kOrchestrator:
      return ": the graph is not wired yet, and all that is wired waits";
    case abi::StallReason::kOther:
      return ": nothing is left that could go on";
  }
  return "";
}

// As far as it has said its name.
std::string kernel_of(const TaskGraph& graph, const Programs& programs, std::uint32_t task) {
  if (task >= graph.tasks()) return {};
  const auto id = graph.task({task}).kernel.value;
  const auto kernel = programs.kernels.find(id);
  if (kernel == programs.kernels.end() || kernel->second.name.empty()) {
    return fmt::format("; kernel {}", id);
  }
  return fmt::format("; kernel {} ({})", id, kernel->second.name);
}

}  // namespace

std::string describe(const abi::RunResult& result) {
  const auto status = static_cast<abi::RunStatus>(result.status);
  std::string text(status_name(status));
  if (status == abi::RunStatus::kTimeout) {
    text += reason_name(static_cast<abi::StallReason>(result.reason));
  }
  if (result.task != kNobody) text += fmt::format(", task {}", result.task);
  if (result.block != kNobody) text += fmt::format(", block {}", result.block);
  if (result.worker != kNobody) text += fmt::format(", worker {}", result.worker);
  if (result.physical_core != kNobody) text += fmt::format(", core {}", result.physical_core);
  if (result.waits_for != kNobody) text += fmt::format(", waits for task {}", result.waits_for);
  if (status == abi::RunStatus::kKernelFailed) text += fmt::format(", returned {}", result.detail);
  if (status == abi::RunStatus::kCoreException) {
    text += fmt::format(", {}", to_string(static_cast<abi::FaultCode>(result.detail)));
  }
  if (status == abi::RunStatus::kTimeout) {
    text += fmt::format(" ({} done, {} running, {} ready, {} waiting", result.completed,
                        result.running, result.ready, result.waiting);
    if (result.unwired != 0) text += fmt::format(", {} not wired", result.unwired);
    text += ")";
  }
  return text;
}

Status run_verdict(const TaskGraph& graph, const RunReport& report, const RunOptions& options,
                   const Status& ended, const Programs& programs, const QueueFault& core_fault) {
  const auto status = static_cast<abi::RunStatus>(report.result.status);
  if (status == abi::RunStatus::kOk) return ended;
  if (status == abi::RunStatus::kRunning && !ended) return ended;
  const auto code =
      status == abi::RunStatus::kTimeout ? ErrorCode::kTimeout : ErrorCode::kDeviceFault;
  std::string text = "run: " + describe(report.result);
  if (status == abi::RunStatus::kCoreMissing) {
    text += fmt::format(": it has not greeted the scheduler within the watchdog's {} ns",
                        options.watchdog.count() / 1000);
  }
  if (status == abi::RunStatus::kTimeout) {
    text += fmt::format(" within the watchdog's {} ns", options.watchdog.count() / 1000);
  }
  const bool in_kernel =
      status == abi::RunStatus::kKernelFailed || status == abi::RunStatus::kCoreException ||
      report.result.reason == static_cast<std::uint32_t>(abi::StallReason::kRunning);
  if (in_kernel) text += kernel_of(graph, programs, report.result.task);
  const bool known = core_fault.code == static_cast<abi::FaultCode>(report.result.detail);
  if (status == abi::RunStatus::kCoreException && known) {
    const auto place = place_of(core_fault);
    if (!place.empty()) text += "; " + place;
  }
  return fail(code, text);
}

}  // namespace npu::driver

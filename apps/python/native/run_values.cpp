// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/run_values.hpp"

#include "npu/abi/pmu.hpp"

namespace npu::python {
namespace py = pybind11;

py::dict to_dict(const abi::RunResult& result) {
  py::dict all;
  all["status"] = result.status;
  all["reason"] = result.reason;
  all["completed"] = result.completed;
  all["task"] = result.task;
  all["block"] = result.block;
  all["worker"] = result.worker;
  all["physical_core"] = result.physical_core;
  all["detail"] = result.detail;
  all["waits_for"] = result.waits_for;
  all["running"] = result.running;
  all["ready"] = result.ready;
  all["waiting"] = result.waiting;
  all["started"] = result.started;
  all["handshaken"] = result.handshaken;
  all["wired"] = result.wired;
  all["finished"] = result.finished;
  all["ended"] = result.ended;
  all["dispatched_blocks"] = result.dispatched_blocks;
  all["polls"] = result.polls;
  all["counter_hz"] = result.counter_hz;
  return all;
}

py::dict to_dict(const abi::TaskRecord& record) {
  py::dict all;
  all["task"] = record.task;
  all["block"] = record.block;
  all["worker"] = record.worker;
  all["thread"] = record.thread;
  all["physical_core"] = record.physical_core;
  all["ready"] = record.ready;
  all["sent"] = record.sent;
  all["begun"] = record.begun;
  all["ended"] = record.ended;
  all["seen"] = record.seen;
  return all;
}

py::dict to_dict(const abi::PmuRecord& record) {
  py::dict all;
  all["physical_core"] = record.physical_core;
  all["core_type"] = record.core_type;
  all["group"] = record.group;
  all["clocks"] = record.clocks;
  py::list counters;
  for (const auto counter : record.counters) counters.append(counter);
  all["counters"] = counters;
  py::list events;
  for (const auto event : abi::pmu_group(record.group).events) {
    const auto* const known = abi::pmu_event(event);
    events.append(known == nullptr ? py::str() : py::str(std::string(known->name)));
  }
  all["events"] = events;
  return all;
}

py::dict to_dict(const driver::TensorCopy& copy) {
  py::dict all;
  all["task"] = copy.task.value;
  all["argument"] = copy.argument;
  all["stage"] = copy.stage == abi::DumpStage::kBeforeDispatch ? "before" : "after";
  all["address"] = copy.tensor.value;
  all["ticks"] = copy.ticks;
  all["bytes"] = copy.taken ? py::object(py::bytes(reinterpret_cast<const char*>(copy.bytes.data()),
                                                   copy.bytes.size()))
                            : py::object(py::none());
  return all;
}

py::dict to_dict(const driver::RunReport& report) {
  py::dict all;
  all["result"] = to_dict(report.result);
  all["workers"] = report.workers;
  all["called_ps"] = report.called.since_power_up().count();
  all["uploaded_ps"] = report.uploaded.since_power_up().count();
  all["launched_ps"] = report.launched.since_power_up().count();
  all["ended_ps"] = report.ended.since_power_up().count();
  all["returned_ps"] = report.returned.since_power_up().count();
  all["records"] = to_list(report.records);
  all["pmu"] = to_list(report.pmu);
  all["tensors"] = to_list(report.tensors);
  return all;
}

}  // namespace npu::python

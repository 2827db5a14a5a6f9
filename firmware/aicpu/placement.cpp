// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/placement.hpp"

namespace npu::firmware {

void Placement::begin(const Share& share) {
  port_.phase(AicpuPhase::kDispatch, share.task);
  port_.read(run_.descriptor(share.task), &task_, sizeof task_);
  const bool mixed = share.kind.shape() == abi::TaskShape::kMixed;
  lanes_ = mixed ? share.kind.blocks() * cores_.counts().lanes : share.kind.blocks();
  payload_.kernel = task_.kernel;
  payload_.arguments = task_.arguments;
  payload_.words = task_.words;
  payload_.blocks = task_.blocks;
  payload_.task = share.task;
}

void Placement::place(std::uint32_t block, Worker& worker, std::uint32_t role) {
  // Ids alternate between the two payloads; the one used here was that of a block that has ended.
  const std::uint32_t last = worker.last_dispatch;
  const std::uint32_t dispatch = last == abi::DataMainBase::kMaxId ? 2 : last + 1;
  worker.last_dispatch = dispatch;
  payload_.block = block;
  payload_.role = role;
  payload_.dispatch = dispatch;
  if (run_.has(abi::kRunProfile)) payload_.record = open_record(block, worker);
  const std::uint64_t payload = run_.payload(worker.index, dispatch);
  worker.newest() = {dispatch, payload_.task, block, lanes_, payload_.record, payload};
  port_.write(payload, &payload_, sizeof payload_);
  placed_.push_back(&worker);
  if (worker.busy()) {
    cores_.change(worker, Work::kRunningAndSent);
  } else {
    cores_.change(worker, Work::kSent);
  }
}

void Placement::place(std::uint32_t block, const Cluster& cluster) {
  for (std::uint32_t role = 0; role < cluster.size; ++role) {
    place(block, *cluster.workers[role], role);
  }
}

// Before the core is told; then the core writes to it, then `seen` is written.
std::uint64_t Placement::open_record(std::uint32_t block, const Worker& worker) {
  const std::uint64_t index = port_.fetch_add(run_.control(scratch::kRecords), 8, 1);
  if (index >= run_.header().record_count) return 0;
  const std::uint64_t address = run_.header().records + index * sizeof(abi::TaskRecord);
  abi::TaskRecord record;
  record.task = payload_.task;
  record.block = block;
  record.worker = worker.index;
  record.dispatch = worker.last_dispatch;
  record.ready = port_.load(run_.task(payload_.task, offsetof(TaskState, ready_at)), 8);
  record.sent = port_.system_counter();
  record.thread = port_.thread();
  record.physical_core = worker.physical;
  port_.write(address, &record, sizeof record);
  return address;
}

void Placement::ring() {
  if (placed_.empty()) return;
  port_.barrier();
  for (const auto* worker : placed_) link_.ring(*worker);
  rung_ += placed_.size();
  placed_.clear();
}

}  // namespace npu::firmware

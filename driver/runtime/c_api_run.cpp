// SPDX-License-Identifier: Apache-2.0
// The C functions of a run and of what it has left.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "driver/runtime/c_api_impl.hpp"

using namespace npu::driver::c_api;
using npu::abi::PmuRecord;
using npu::abi::RunResult;
using npu::abi::TaskRecord;

// The C structures are the card's.
static_assert(sizeof(npu_run_result) == sizeof(RunResult) &&
              offsetof(npu_run_result, waits_for) == offsetof(RunResult, waits_for) &&
              offsetof(npu_run_result, cond) == offsetof(RunResult, cond) &&
              offsetof(npu_run_result, started) == offsetof(RunResult, started) &&
              offsetof(npu_run_result, counter_hz) == offsetof(RunResult, counter_hz) &&
              offsetof(npu_run_result, unwired) == offsetof(RunResult, unwired) &&
              offsetof(npu_run_result, block) == offsetof(RunResult, block) &&
              offsetof(npu_run_result, dump_ticks) == offsetof(RunResult, dump_ticks));
static_assert(sizeof(npu_task_record) == sizeof(TaskRecord) &&
              offsetof(npu_task_record, seen) == offsetof(TaskRecord, seen) &&
              offsetof(npu_task_record, physical_core) == offsetof(TaskRecord, physical_core));
static_assert(sizeof(npu_pmu_record) == sizeof(PmuRecord) &&
              offsetof(npu_pmu_record, clocks) == offsetof(PmuRecord, clocks) &&
              offsetof(npu_pmu_record, group) == offsetof(PmuRecord, group));

namespace {

// 0 is what RunOptions says; what is more than there is time, is all of it.
npu::Picoseconds time_of(std::uint64_t ns, npu::Picoseconds unsaid) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / 4000;
  return ns == 0 ? unsaid : npu::Picoseconds(static_cast<std::int64_t>(std::min(ns, kMost)) * 1000);
}

npu::driver::RunOptions options_of(const npu_run_config& config) {
  npu::driver::RunOptions options;
  options.block_dim = config.block_dim;
  options.aicpu_threads = config.aicpu_thread_num;
  options.profiling = config.enable_profiling != 0;
  options.dump_tensors = config.enable_dump_tensor != 0;
  options.pmu_group = config.enable_pmu;
  options.single_issue = config.single_issue != 0;
  options.watchdog = time_of(config.watchdog_ns, options.watchdog);
  options.timeout = time_of(config.timeout_ns, options.timeout);
  if (config.memory_handshake != 0) options.handshake = npu::abi::HandshakeKind::kMemory;
  return options;
}

int use_device(npu_device_context& context, int device_id) {
  if (context.device < 0) return npu_set_device(&context, device_id);
  if (context.device == device_id) return 0;
  return refuse(context,
                fmt::format("a run on device {}, device {} is set", device_id, context.device));
}

int bring_firmware(npu_device_context& context, const npu_run_config& config) {
  if (config.aicpu_binary == nullptr) {
    return context.has_firmware ? 0
                                : refuse(context, "the first run needs the firmware's binaries");
  }
  if (config.aicore_binary == nullptr) return refuse(context, "a scheduler without an executor");
  const int code = outcome(
      context, context.context->set_firmware(span(config.aicpu_binary, config.aicpu_size),
                                             span(config.aicore_binary, config.aicore_size)));
  if (code == 0) context.has_firmware = true;
  return code;
}

// The first `capacity` of those that there are.
template <class Record, class Source>
void copy_out(const std::vector<Source>& from, Record* to, std::size_t capacity) {
  const std::size_t count = to == nullptr ? 0 : std::min(capacity, from.size());
  if (count != 0) std::memcpy(to, from.data(), count * sizeof(Record));
}

}  // namespace

int npu_run_runtime(npu_device_context* context, npu_runtime* runtime, npu_callable callable,
                    const uint64_t* args, size_t count, const npu_run_config* config) {
  return guarded(context, [&](npu_device_context& c) {
    if (runtime == nullptr || config == nullptr)
      return refuse(c, "no runtime, or no configuration");
    if (const int code = use_device(c, config->device_id); code != 0) return code;
    if (const int code = bring_firmware(c, *config); code != 0) return code;
    if (callable != nullptr) {
      runtime->graph = {};
      if (callable(runtime, args, count) != 0) return refuse(c, "the callable has failed");
    }
    return outcome(c, c.context->run(runtime->graph, options_of(*config)));
  });
}

int npu_last_run_result(const npu_device_context* context, npu_run_result* result) {
  if (context == nullptr || result == nullptr) return NPU_ERROR_INVALID_ARGUMENT;
  std::memcpy(result, &context->context->last_result(), sizeof *result);
  return 0;
}

size_t npu_last_task_records(const npu_device_context* context, npu_task_record* records,
                             size_t capacity) {
  if (context == nullptr) return 0;
  const auto& all = context->context->last_report().records;
  copy_out(all, records, capacity);
  return all.size();
}

size_t npu_last_pmu_records(const npu_device_context* context, npu_pmu_record* records,
                            size_t capacity) {
  if (context == nullptr) return 0;
  const auto& all = context->context->last_report().pmu;
  copy_out(all, records, capacity);
  return all.size();
}

size_t npu_last_tensor_copies(const npu_device_context* context, npu_tensor_copy* copies,
                              size_t capacity) {
  if (context == nullptr) return 0;
  const auto& all = context->context->last_report().tensors;
  const std::size_t count = copies == nullptr ? 0 : std::min(capacity, all.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto& from = all[i];
    copies[i] = {};
    copies[i].task = from.task.value;
    copies[i].argument = from.argument;
    copies[i].stage = static_cast<std::int32_t>(from.stage);
    copies[i].taken = from.taken ? 1 : 0;
    copies[i].tensor = from.tensor.value;
    copies[i].ticks = from.ticks;
    copies[i].bytes = from.taken ? from.bytes.data() : nullptr;
    copies[i].size = from.bytes.size();
  }
  return all.size();
}

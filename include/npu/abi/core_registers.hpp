// SPDX-License-Identifier: Apache-2.0
// Register window of one AI Core as the AICPU sees it, and the register handshake's values
// (hardware.md H52, runtime.md A2). The core itself reads
// DATA_MAIN_BASE and writes COND through instructions of its own; a load or store of its window
// from the core hangs it. CORE_STATUS is npusim's own.
#pragma once

#include "npu/abi/register.hpp"

namespace npu::abi {

inline constexpr std::uint32_t kCoreWindowSize = 0x1400;  // bytes per core

enum class CoreType : std::uint8_t {
  kAic = 0,      // cube
  kAiv = 1,      // vector
  kCoupled = 2,  // both in one core (910, 910B of the source documents)
};

struct CoreControl : Register<CoreControl, std::uint32_t, 0x0000, Access::kReadWrite> {
  static constexpr std::string_view kName = "CORE_CTRL";
  NPU_FIELD(PmuEnable, 0, 0, "the PMU counts");
};
struct CoreStatus : Register<CoreStatus, std::uint32_t, 0x0010, Access::kReadOnly> {
  static constexpr std::string_view kName = "CORE_STATUS";
  NPU_FIELD(Exception, 15, 0, "FaultCode of why the core stopped; 0: it has not");
  NPU_FIELD(Running, 16, 16, "a program runs on the core");
};
// The window answers only while it is open.
struct FastPathEnable : Register<FastPathEnable, std::uint32_t, 0x0018, Access::kReadWrite> {
  static constexpr std::string_view kName = "FAST_PATH_ENABLE";
  NPU_VALUE("code", "0xE opens the window, 0xF closes it");
  static constexpr std::uint32_t kOpen = 0xE;
  static constexpr std::uint32_t kClosed = 0xF;
};
// AICPU to core: id of the task to run, or one of the values below.
struct DataMainBase : Register<DataMainBase, std::uint32_t, 0x00A0, Access::kReadWrite> {
  static constexpr std::string_view kName = "DATA_MAIN_BASE";
  NPU_VALUE("task", "id of the task to run, 0x7FFFFFF0 exit, 0x7FFFFFFD idle");
  static constexpr std::uint32_t kNothing = 0;          // since the launch
  static constexpr std::uint32_t kMaxId = 0x7FFF'FFEF;  // dispatch ids are 1 .. kMaxId
  static constexpr std::uint32_t kExit = 0x7FFF'FFF0;   // leave the executor
  static constexpr std::uint32_t kIdle = 0x7FFF'FFFD;   // nothing to do
};
// The word beside it: doorbell of a task that was dispatched before it was ready.
struct DataMainDoorbell : Register<DataMainDoorbell, std::uint32_t, 0x00A4, Access::kReadWrite> {
  static constexpr std::string_view kName = "DATA_MAIN_DOORBELL";
  NPU_VALUE("task", "doorbell of a task that was dispatched before it was ready");
};
struct PmuControl : Register<PmuControl, std::uint32_t, 0x0200, Access::kReadWrite> {
  static constexpr std::string_view kName = "PMU_CTRL";
  NPU_VALUE("code", "0x7: the PMU counts");
  static constexpr std::uint32_t kEnable = 0x7;
};
// Counter i: PMU_CNT0 + 8 i, i = 0..7. The event it counts: PMU_CNT0_IDX + 4 i.
struct PmuCounter0 : Register<PmuCounter0, std::uint32_t, 0x0210, Access::kReadOnly> {
  static constexpr std::string_view kName = "PMU_CNT0";
  NPU_VALUE("events", "counter 0; counter i, up to 7, at + 8 i");
  static constexpr std::uint32_t kStride = 8;
  static constexpr unsigned kCounters = 8;
};
struct PmuTotal : Register<PmuTotal, std::uint64_t, 0x0250, Access::kReadOnly> {
  static constexpr std::string_view kName = "PMU_CNT_TOTAL";
  NPU_VALUE("core clocks", "while the PMU was on");
};
// Core to AICPU: what became of a task.
struct Cond : Register<Cond, std::uint32_t, 0x04C8, Access::kReadOnly> {
  static constexpr std::string_view kName = "COND";
  NPU_FIELD(Id, 30, 0, "of the task");
  NPU_FIELD(Finished, 31, 31, "1: FIN, 0: ACK (it has begun)");
  static constexpr std::uint32_t kFinished = static_cast<std::uint32_t>(Finished::kMask);
  static constexpr std::uint32_t kIdle = kFinished | 0x7FFF'FFFF;
  static constexpr std::uint32_t kExited = kFinished | 0x7FFF'FFFE;
};
struct PmuCounter0Index : Register<PmuCounter0Index, std::uint32_t, 0x1280, Access::kReadWrite> {
  static constexpr std::string_view kName = "PMU_CNT0_IDX";
  NPU_VALUE("PMU event", "that counter 0 counts; counter i at + 4 i");
  static constexpr std::uint32_t kStride = 4;
};

using CoreRegisters =
    RegisterList<CoreControl, CoreStatus, FastPathEnable, DataMainBase, DataMainDoorbell,
                 PmuControl, PmuCounter0, PmuTotal, Cond, PmuCounter0Index>;
inline constexpr auto kCoreRegisters = make_table(CoreRegisters{});
static_assert(is_sorted_without_overlap(kCoreRegisters));

}  // namespace npu::abi

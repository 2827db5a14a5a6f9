// SPDX-License-Identifier: Apache-2.0
// The kinds of timed events, one row each: its name in reports and timelines, the part of the
// machine, its role in a unit's load and on a critical path, and the fields of `detail`. Exporters,
// reports and docs/timeline.md are made from this table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "npu/platform/activity_class.hpp"
#include "npu/platform/activity_detail.hpp"

namespace npu::platform {

enum class Activity : std::uint16_t {
  // host software
  kMeasurement,
  kStage,
  kDriverCall,
  kDmaSubmit,
  kEventWait,
  kMemoryBlock,
  kTask,
  kTaskEdge,
  kCpuBusy,
  kCpuIdle,
  kContextSwitch,
  kInterruptHandler,
  kBarrier,
  kPoll,
  kHostCopy,
  kMemoryClear,
  kMemoryPin,
  kMemoryUnpin,
  kIommuMap,
  kIommuUnmap,
  // PCI Express
  kTlp,
  kMmioWrite,
  kMmioRead,
  kConfigAccess,
  kHostRead,
  kHostWrite,
  kIommuLookup,
  kIommuWalk,
  kAtsInvalidation,
  kInterrupt,
  // DMA
  kDescriptorFetch,
  kEngineStart,
  kDataRead,
  kDataWrite,
  kEnginePath,
  kCompletion,
  kCommand,
  kFault,
  kInjectedFault,
  // address translation
  kTranslation,
  kPageWalk,
  kPageFault,
  kAtsRequest,
  kPageRequest,
  // compute queues (docs/compute-queues.md)
  kQueueDoorbell,
  kQueueMap,
  kQueueUnmap,
  kQueueFetch,
  kQueueDecode,
  kQueueDispatch,
  kQueueWait,
  kQueueCommand,
  kQueueComplete,
  kQueueManage,
  // AI Cores
  kKernelBlock,
  kKernelCall,
  kTaskSetup,
  kPipe,
  kCopyPath,
  kScalarWait,
  // AICPUs
  kAicpuIdle,
  kAicpuHandshake,
  kAicpuWiring,
  kAicpuDispatch,
  kAicpuComplete,
  kAicpuDrain,
  kAicpuDump,
  kPagerTakeFault,
  kPagerMapPage,
  kPagerEvictPage,
  // L2, HBM, links between cards
  kL2Read,
  kL2Write,
  kL2Fill,
  kL2WriteBack,
  kHbmRead,
  kHbmWrite,
  kHbmRefresh,
  kHccsTransfer,
  kCount,
};
inline constexpr unsigned kWaitTimedOut = 32;  // the bit of kEventWait's detail
inline constexpr std::size_t kActivities = static_cast<std::size_t>(Activity::kCount);

struct ActivityRow {
  Activity activity;
  std::string_view name;
  Category category;
  Flow flow;
  std::string_view meaning;
  Load load = Load::kNone;
  Path path = Path::kNone;
  std::array<DetailField, kDetailFields> fields{};
};

namespace detail_fields {

inline constexpr DetailField kQueue{"queue", 0, 16};
inline constexpr DetailField kTask{"task", 0, 32, DetailFormat::kTask};
inline constexpr DetailField kBlock{"block", 0, 32};
inline constexpr DetailField kEntries{"entries", 0, 32};
inline constexpr DetailField kPages{"pages", 0, 48};
inline constexpr DetailField kLines{"lines", 0, 32};
inline constexpr DetailField kPipe{"pipe", 0, 8, DetailFormat::kPipe};
inline constexpr DetailField kOperation{"operation", 8, 8, DetailFormat::kPipeOperation};
inline constexpr DetailField kAfter{"after", 16, 4, DetailFormat::kBeganAfter};
inline constexpr DetailField kFlag{"flag", 20, 4, DetailFormat::kPipe};

}  // namespace detail_fields

template <class... Fields>
constexpr ActivityRow row(Activity activity, std::string_view name, Category category, Flow flow,
                          Load load, Path path, std::string_view meaning, Fields... fields) {
  return {activity, name, category, flow, meaning, load, path, {fields...}};
}

// In the order of the enumeration.
inline constexpr std::array<ActivityRow, kActivities> kActivityTable{
    row(Activity::kMeasurement, "measurement", Category::kWorkload, Flow::kNone, Load::kNone,
        Path::kNone,
        "a time that the report names as the track does, or one of those it is made of; count: "
        "what the span stands for, where the report has the mean of one",
        DetailField{"statistic", 0, 8, DetailFormat::kStatistic}, DetailField{"count", 8, 56}),
    row(Activity::kStage, "stage", Category::kWorkload, Flow::kNone, Load::kNone, Path::kNone,
        "a stage of a workload or of a compaction, named as the track"),
    row(Activity::kDriverCall, "driver_call", Category::kDriver, Flow::kNone, Load::kNone,
        Path::kCall, "driver: from the call to the return of a function of its interface",
        DetailField{"call", 56, 8, DetailFormat::kDriverCall},
        DetailField{"argument", 0, 56, DetailFormat::kHex}),
    row(Activity::kDmaSubmit, "dma_submit", Category::kDriver, Flow::kBegin, Load::kNone,
        Path::kCall,
        "driver: from the call to the return of a submission, to the DMA ring or to a queue; the "
        "cause is its last entry, and so many went before it with the same doorbell",
        DetailField{"stream_or_queue", 0, 32}, DetailField{"entries_before", 32, 32}),
    row(Activity::kEventWait, "event_wait", Category::kDriver, Flow::kEnd, Load::kNone, Path::kCall,
        "driver: from the call to the return of a wait; one that timed out ends no arrow",
        DetailField{"event_or_queue", 0, 32}, DetailField{"timed_out", kWaitTimedOut, 1}),
    row(Activity::kMemoryBlock, "memory_block", Category::kDriver, Flow::kNone, Load::kNone,
        Path::kNone,
        "driver: a block of device memory is free, allocated, pinned or moved from now on",
        DetailField{"state", 60, 4, DetailFormat::kBlockState},
        DetailField{"address", 0, 60, DetailFormat::kHex}),
    row(Activity::kTask, "task", Category::kDriver, Flow::kNone, Load::kNone, Path::kNone,
        "driver: a task of a graph that is about to run, and where its arguments will lie",
        DetailField{"arguments", 0, 64, DetailFormat::kHex}),
    row(Activity::kTaskEdge, "task_edge", Category::kDriver, Flow::kNone, Load::kNone, Path::kNone,
        "driver: the task needs the result of another one of its graph",
        DetailField{"producer", 0, 32}),
    row(Activity::kCpuBusy, "cpu_busy", Category::kHost, Flow::kNone, Load::kTime, Path::kWork,
        "a task computes, stores or polls"),
    row(Activity::kCpuIdle, "cpu_idle", Category::kHost, Flow::kNone, Load::kNone, Path::kHostWait,
        "a task is blocked"),
    row(Activity::kContextSwitch, "context_switch", Category::kHost, Flow::kNone, Load::kNone,
        Path::kHostWait, "a task is put to sleep or woken"),
    row(Activity::kInterruptHandler, "interrupt_handler", Category::kHost, Flow::kNone, Load::kNone,
        Path::kRequest, "the handler of an interrupt runs; the task of its core stands still"),
    row(Activity::kBarrier, "barrier", Category::kHost, Flow::kNone, Load::kNone, Path::kHostWait,
        "a memory barrier of the host, and what it makes leave",
        DetailField{"is_read_barrier", 0, 1}),
    row(Activity::kPoll, "poll", Category::kHost, Flow::kNone, Load::kNone, Path::kHostWait,
        "rounds of a poll loop of the host that saw no change", DetailField{"rounds", 0, 48}),
    row(Activity::kHostCopy, "host_copy", Category::kHost, Flow::kNone, Load::kNone,
        Path::kHostWait, "a task copies between its own memory and memory for devices"),
    row(Activity::kMemoryClear, "memory_clear", Category::kHost, Flow::kNone, Load::kNone,
        Path::kHostWait, "memory for devices is allocated: its pages are zeroed",
        detail_fields::kPages),
    row(Activity::kMemoryPin, "memory_pin", Category::kHost, Flow::kNone, Load::kNone,
        Path::kHostWait, "and found and kept where they are", detail_fields::kPages),
    row(Activity::kMemoryUnpin, "memory_unpin", Category::kHost, Flow::kNone, Load::kNone,
        Path::kHostWait, "memory for devices is freed: its pages are given back",
        detail_fields::kPages),
    row(Activity::kIommuMap, "iommu_map", Category::kHost, Flow::kNone, Load::kNone,
        Path::kHostWait, "pages are entered into the IOMMU's tables", detail_fields::kPages),
    row(Activity::kIommuUnmap, "iommu_unmap", Category::kHost, Flow::kNone, Load::kNone,
        Path::kHostWait, "pages are taken out of the IOMMU's tables and the IOTLB forgets them",
        detail_fields::kPages),
    row(Activity::kTlp, "tlp", Category::kPcie, Flow::kNone, Load::kWireBytes, Path::kNone,
        "link: one or more TLPs of a transaction, first byte sent to last received; bytes: payload",
        DetailField{"wire_bytes", 0, 48}),
    row(Activity::kMmioWrite, "mmio_write", Category::kPcie, Flow::kStep, Load::kNone,
        Path::kRequest,
        "endpoint: a posted write, issued until it took effect at its register or in device memory",
        DetailField{"bar", 56, 8}, DetailField{"offset", 0, 56, DetailFormat::kHex}),
    row(Activity::kMmioRead, "mmio_read", Category::kHost, Flow::kNone, Load::kNone, Path::kWork,
        "host: a non-posted read, request to completion",
        DetailField{"address", 0, 64, DetailFormat::kHex}),
    row(Activity::kConfigAccess, "config_access", Category::kHost, Flow::kNone, Load::kNone,
        Path::kWork, "host: a configuration read or write",
        DetailField{"bdf", 12, 16, DetailFormat::kBdf},
        DetailField{"offset", 0, 12, DetailFormat::kHex}),
    row(Activity::kHostRead, "host_read", Category::kPcie, Flow::kNone, Load::kNone, Path::kNone,
        "root complex: a DMA read of host memory, request to data",
        DetailField{"bus_address", 0, 64, DetailFormat::kHex}),
    row(Activity::kHostWrite, "host_write", Category::kPcie, Flow::kNone, Load::kNone,
        Path::kRequest,
        "root complex: a DMA write of host memory, arrival to visible; the event record of a "
        "command is its last one",
        DetailField{"bus_address", 0, 64, DetailFormat::kHex}),
    row(Activity::kIommuLookup, "iommu_lookup", Category::kPcie, Flow::kNone, Load::kNone,
        Path::kNone,
        "IOMMU: the translation of a bus address, for a read or write of a function or for its ATS",
        DetailField{"bdf", 48, 16, DetailFormat::kBdf}, DetailField{"ats", 47, 1},
        DetailField{"page", 0, 47, DetailFormat::kHex}),
    row(Activity::kIommuWalk, "iommu_walk", Category::kPcie, Flow::kNone, Load::kNone, Path::kNone,
        "IOMMU: the part of a translation in which its tables are read, for a page that was not in "
        "the IOTLB",
        DetailField{"bdf", 48, 16, DetailFormat::kBdf},
        DetailField{"page", 0, 47, DetailFormat::kHex}),
    row(Activity::kAtsInvalidation, "ats_invalidation", Category::kHost, Flow::kNone, Load::kNone,
        Path::kWork,
        "host: a function is told to drop translations, request to completion; bytes: unmapped",
        DetailField{"bdf", 48, 16, DetailFormat::kBdf},
        DetailField{"page", 0, 48, DetailFormat::kHex}),
    row(Activity::kInterrupt, "interrupt", Category::kHost, Flow::kStep, Load::kNone,
        Path::kRequest, "host: an MSI-X message arrived", DetailField{"data", 0, 32}),
    row(Activity::kDescriptorFetch, "descriptor_fetch", Category::kDma, Flow::kNone, Load::kNone,
        Path::kRequest, "engine: the read of ring entries", detail_fields::kEntries),
    row(Activity::kEngineStart, "engine_start", Category::kDma, Flow::kNone, Load::kNone,
        Path::kRequest,
        "engine: a command is dispatched to an engine, until its first data request"),
    row(Activity::kDataRead, "data_read", Category::kDma, Flow::kNone, Load::kNone, Path::kRequest,
        "engine: a chunk of data, request to data"),
    row(Activity::kDataWrite, "data_write", Category::kDma, Flow::kNone, Load::kNone,
        Path::kRequest, "engine: a chunk of data, request to written"),
    row(Activity::kEnginePath, "engine_path", Category::kDma, Flow::kNone, Load::kNone,
        Path::kRequest,
        "engine: a piece of data waits until the engine's path to device memory is free"),
    row(Activity::kCompletion, "completion", Category::kDma, Flow::kNone, Load::kNone,
        Path::kRequest, "engine: last data written until event and interrupt are sent"),
    row(Activity::kCommand, "command", Category::kDma, Flow::kStep, Load::kTime, Path::kWork,
        "engine: a command, dispatched to completed",
        DetailField{"opcode", 16, 8, DetailFormat::kDmaOpcode}, DetailField{"stream", 0, 16}),
    row(Activity::kFault, "fault", Category::kFault, Flow::kStep, Load::kNone, Path::kWork,
        "any model: a fault was recorded", DetailField{"code", 0, 16, DetailFormat::kFaultCode}),
    row(Activity::kInjectedFault, "injected_fault", Category::kFault, Flow::kNone, Load::kNone,
        Path::kNone,
        "a fault on request, named as the track; without length: it ended by itself, or not at "
        "all"),
    row(Activity::kTranslation, "translation", Category::kMmu, Flow::kNone, Load::kNone,
        Path::kNone, "MMU: a virtual address was looked up in the TLB", DetailField{"hit", 63, 1},
        DetailField{"vmid", 48, 15}, DetailField{"page", 0, 48, DetailFormat::kHex}),
    row(Activity::kPageWalk, "page_walk", Category::kMmu, Flow::kNone, Load::kNone, Path::kNone,
        "MMU: a translation missed in the TLB, until it is known", detail_fields::kEntries),
    row(Activity::kPageFault, "page_fault", Category::kMmu, Flow::kStep, Load::kNone, Path::kWork,
        "MMU: accesses waited for a page, until somebody replied", DetailField{"vmid", 48, 16},
        DetailField{"page", 0, 48, DetailFormat::kHex}),
    row(Activity::kAtsRequest, "ats_request", Category::kMmu, Flow::kNone, Load::kNone, Path::kNone,
        "card: the translation of a process' page was asked for, request to answer",
        DetailField{"vmid", 48, 16}, DetailField{"page", 0, 48, DetailFormat::kHex}),
    row(Activity::kPageRequest, "page_request", Category::kPcie, Flow::kStep, Load::kNone,
        Path::kWork, "IOMMU: a page request of a function came, until software has answered it",
        DetailField{"bdf", 48, 16, DetailFormat::kBdf},
        DetailField{"page", 0, 48, DetailFormat::kHex}),
    row(Activity::kQueueDoorbell, "queue_doorbell", Category::kQueue, Flow::kStep, Load::kNone,
        Path::kRequest, "command processor: a doorbell was written, until it was looked at",
        detail_fields::kQueue),
    row(Activity::kQueueMap, "queue_map", Category::kQueue, Flow::kNone, Load::kNone,
        Path::kRequest, "a queue is loaded into a slot: descriptor and indices are read",
        detail_fields::kQueue),
    row(Activity::kQueueUnmap, "queue_unmap", Category::kQueue, Flow::kNone, Load::kNone,
        Path::kRequest, "a queue is unloaded: from the decision until its descriptor is written",
        detail_fields::kQueue),
    row(Activity::kQueueFetch, "queue_fetch", Category::kQueue, Flow::kNone, Load::kNone,
        Path::kRequest, "the read of submission entries", detail_fields::kEntries),
    row(Activity::kQueueDecode, "queue_decode", Category::kQueue, Flow::kNone, Load::kNone,
        Path::kRequest, "an entry waits for its turn and is decoded", detail_fields::kQueue),
    row(Activity::kQueueDispatch, "queue_dispatch", Category::kQueue, Flow::kNone, Load::kNone,
        Path::kRequest, "an entry is decoded, until an engine or a core has taken it",
        detail_fields::kQueue),
    row(Activity::kQueueWait, "queue_wait", Category::kQueue, Flow::kNone, Load::kNone,
        Path::kRequest, "an event wait, or an entry that waits for those before it",
        detail_fields::kQueue),
    row(Activity::kQueueCommand, "queue_command", Category::kQueue, Flow::kStep, Load::kTime,
        Path::kWork, "an entry, decoded until complete",
        DetailField{"opcode", 16, 8, DetailFormat::kQueueOpcode}, detail_fields::kQueue),
    row(Activity::kQueueComplete, "queue_complete", Category::kQueue, Flow::kNone, Load::kNone,
        Path::kRequest, "work is done, until completion entry and MSI-X are sent",
        detail_fields::kQueue),
    row(Activity::kQueueManage, "queue_manage", Category::kQueue, Flow::kNone, Load::kNone,
        Path::kRequest, "a management command",
        DetailField{"opcode", 0, 16, DetailFormat::kManagementOpcode}),
    row(Activity::kKernelBlock, "kernel_block", Category::kAicore, Flow::kStep, Load::kNone,
        Path::kWork, "core: one block of a launched program", detail_fields::kBlock),
    row(Activity::kKernelCall, "kernel_call", Category::kAicore, Flow::kNone, Load::kNone,
        Path::kWork, "core: a program that another one runs, as the executor does for each task",
        DetailField{"block", 48, 16}, DetailField{"arguments", 0, 48, DetailFormat::kHex}),
    row(Activity::kTaskSetup, "task_setup", Category::kAicore, Flow::kNone, Load::kNone,
        Path::kWork,
        "core: a program has found what it polled for (a dispatch id, its line), until the first "
        "instruction of the one it calls then",
        detail_fields::kBlock),
    row(Activity::kPipe, "pipe", Category::kAicore, Flow::kNone, Load::kTime, Path::kWork,
        "core: an instruction of a pipe; the slice has the name of its operation. It began no "
        "earlier because of its own pipe, a flag of another pipe, its issue, or another core",
        detail_fields::kOperation, detail_fields::kPipe, detail_fields::kAfter,
        detail_fields::kFlag),
    row(Activity::kCopyPath, "copy_path", Category::kAicore, Flow::kNone, Load::kNone, Path::kWork,
        "core: what the end of a copy followed from, back over the copies before it in its pipe to "
        "where that began: shares, in 255ths, of translation, L2, HBM and the fixed way; in the "
        "rest requests left at the path's rate",
        detail_fields::kOperation, detail_fields::kAfter, detail_fields::kFlag,
        DetailField{"mmu", 24, 8}, DetailField{"l2", 32, 8}, DetailField{"hbm", 40, 8},
        DetailField{"way", 48, 8}),
    row(Activity::kScalarWait, "scalar_wait", Category::kAicore, Flow::kNone, Load::kNone,
        Path::kWork,
        "core: the scalar unit waits: for room in a pipe's queue, a flag, all pipes, its own "
        "accesses to memory, another core, or a block's start and end",
        DetailField{"wait", 0, 4, DetailFormat::kScalarWait},
        DetailField{"pipe", 4, 8, DetailFormat::kPipe},
        DetailField{"after", 12, 4, DetailFormat::kBeganAfter},
        DetailField{"flag", 16, 4, DetailFormat::kPipe}),
    row(Activity::kAicpuIdle, "aicpu_idle", Category::kAicpu, Flow::kNone, Load::kNone, Path::kWork,
        "a thread has nothing to do", detail_fields::kTask),
    row(Activity::kAicpuHandshake, "aicpu_handshake", Category::kAicpu, Flow::kNone, Load::kTime,
        Path::kWork, "a thread greets the cores", detail_fields::kTask),
    row(Activity::kAicpuWiring, "aicpu_wiring", Category::kAicpu, Flow::kNone, Load::kTime,
        Path::kWork, "a thread enters a task into the lists of its producers",
        detail_fields::kTask),
    row(Activity::kAicpuDispatch, "aicpu_dispatch", Category::kAicpu, Flow::kNone, Load::kTime,
        Path::kWork, "a thread sends a task to a core", detail_fields::kTask),
    row(Activity::kAicpuComplete, "aicpu_complete", Category::kAicpu, Flow::kNone, Load::kTime,
        Path::kWork, "a thread has seen that a task has ended, and tells its consumers",
        detail_fields::kTask),
    row(Activity::kAicpuDrain, "aicpu_drain", Category::kAicpu, Flow::kNone, Load::kTime,
        Path::kWork, "a thread dismisses the cores", detail_fields::kTask),
    row(Activity::kAicpuDump, "aicpu_dump", Category::kAicpu, Flow::kNone, Load::kTime, Path::kWork,
        "a thread copies tensors aside", detail_fields::kTask),
    row(Activity::kPagerTakeFault, "pager_take_fault", Category::kAicpu, Flow::kNone, Load::kTime,
        Path::kWork, "the pager takes a page fault and memory for it, and asks the driver"),
    row(Activity::kPagerMapPage, "pager_map_page", Category::kAicpu, Flow::kNone, Load::kTime,
        Path::kWork, "the pager has the driver's answer: it writes the page table and replies"),
    row(Activity::kPagerEvictPage, "pager_evict_page", Category::kAicpu, Flow::kNone, Load::kTime,
        Path::kWork, "the pager looks for pages that are not used, and takes them back"),
    row(Activity::kL2Read, "l2_read", Category::kL2, Flow::kNone, Load::kBytes, Path::kNone,
        "L2: a read of the cores, accepted to last data", DetailField{"misses", 32, 32},
        DetailField{"hits", 0, 32}),
    row(Activity::kL2Write, "l2_write", Category::kL2, Flow::kNone, Load::kBytes, Path::kNone,
        "L2: a write of the cores, accepted to taken", DetailField{"misses", 32, 32},
        DetailField{"hits", 0, 32}),
    row(Activity::kL2Fill, "l2_fill", Category::kL2, Flow::kNone, Load::kRate, Path::kNone,
        "L2: neighbouring lines are read from the HBM", detail_fields::kLines),
    row(Activity::kL2WriteBack, "l2_write_back", Category::kL2, Flow::kNone, Load::kRate,
        Path::kNone, "L2: neighbouring dirty lines are written to the HBM", detail_fields::kLines),
    row(Activity::kHbmRead, "hbm_read", Category::kHbm, Flow::kNone, Load::kBytes, Path::kNone,
        "HBM: a transaction, accepted to last data; bit i of channels: channel i modulo 64",
        DetailField{"channels", 0, 64, DetailFormat::kHex}),
    row(Activity::kHbmWrite, "hbm_write", Category::kHbm, Flow::kNone, Load::kBytes, Path::kNone,
        "HBM: a transaction, accepted to last data taken; channels as above",
        DetailField{"channels", 0, 64, DetailFormat::kHex}),
    row(Activity::kHbmRefresh, "hbm_refresh", Category::kHbm, Flow::kNone, Load::kNone, Path::kNone,
        "HBM: a pseudo channel cannot serve", DetailField{"channel", 0, 16}),
    row(Activity::kHccsTransfer, "hccs_transfer", Category::kHccs, Flow::kNone, Load::kWireBytes,
        Path::kNone,
        "link between cards: a message, first byte sent to last received; bytes: payload",
        DetailField{"wire_bytes", 0, 48}),
};

constexpr const ActivityRow& row_of(Activity activity) {
  return kActivityTable[static_cast<std::size_t>(activity)];
}

constexpr std::string_view to_string(Activity activity) {
  const auto index = static_cast<std::size_t>(activity);
  return index < kActivityTable.size() ? kActivityTable[index].name : "?";
}

constexpr bool activity_table_is_in_order() {
  for (std::size_t i = 0; i < kActivityTable.size(); ++i) {
    if (kActivityTable[i].activity != static_cast<Activity>(i)) return false;
  }
  return true;
}
static_assert(activity_table_is_in_order());

}  // namespace npu::platform

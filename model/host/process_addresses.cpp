// SPDX-License-Identifier: Apache-2.0
#include "model/host/process_addresses.hpp"

#include <fmt/format.h>

#include "model/core/bus_page.hpp"
#include "model/host/memory_work.hpp"
#include "model/host/platform.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

namespace {

// Of the operating system's, which takes it back when nobody has it any more.
class ProcessMemory : public platform::DmaMemory {
 public:
  ProcessMemory(HostMemory& host, ByteSpan memory, Bytes size)
      : DmaMemory({memory.data, size}, platform::BusAddress{~std::uint64_t{0}}),
        host_(host),
        memory_(memory) {}
  ~ProcessMemory() override { host_.free(memory_); }

 private:
  HostMemory& host_;
  const ByteSpan memory_;
};

}  // namespace

SharedProcesses::SharedProcesses(HostPlatform& host, HostCpus& cpus, HostMemory& memory,
                                 MemoryWork& work, platform::Bdf bdf,
                                 std::shared_ptr<VectorState> vector)
    : host_(host),
      cpus_(cpus),
      memory_(memory),
      work_(work),
      bdf_(bdf),
      arrivals_(cpus, std::move(vector), "the page requests of " + to_string(bdf)) {}

SharedProcesses::~SharedProcesses() {
  if (host_.in_task()) {
    host_.stop_page_requests(bdf_);
    while (!mappings_.empty()) {
      const auto [pasid, address] = mappings_.begin()->first;
      static_cast<void>(unmap(pasid, address));
    }
  }
  memory_.page_requests().close(bdf_.packed());
  memory_.processes().close(bdf_.packed());
}

void SharedProcesses::charge_call() {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
}

Result<std::unique_ptr<platform::DmaMemory>> SharedProcesses::allocate(Bytes size) {
  charge_call();
  if (size == 0 || !is_aligned(size, kBusPage)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} bytes are no pages", size));
  }
  const int node = work_.node();
  const auto memory = memory_.memory().allocate(size, node);
  if (memory.data == nullptr) {
    return fail(ErrorCode::kOutOfMemory,
                fmt::format("{} bytes of host memory requested, {} used on node {}", size,
                            memory_.memory().used(node), node));
  }
  work_.clear(memory, node);
  return std::make_unique<ProcessMemory>(memory_, memory, size);
}

Result<std::unique_ptr<platform::DmaMemory>> SharedProcesses::import(ByteSpan memory) {
  charge_call();
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data);
  if (memory.size == 0 || !is_aligned(address | memory.size, kBusPage)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} bytes are no pages", memory.size));
  }
  const int node = work_.node();
  if (!memory_.memory().adopt(memory, node, true)) {
    return fail(ErrorCode::kOutOfMemory,
                fmt::format("{} bytes of host memory cannot be used, {} used on node {}",
                            memory.size, memory_.memory().used(node), node));
  }
  work_.clear(memory, node);
  return std::make_unique<ProcessMemory>(memory_, memory, memory.size);
}

Status SharedProcesses::attach(std::uint32_t pasid) {
  charge_call();
  if (pasid == 0 || pasid >= 1U << 20) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} is no PASID", pasid));
  }
  memory_.processes().open(bdf_.packed(), pasid);
  return {};
}

Status SharedProcesses::map(std::uint32_t pasid, std::uint64_t address, platform::DmaMemory& memory,
                            bool write) {
  charge_call();
  auto* const table = memory_.processes().find(bdf_.packed(), pasid);
  if (table == nullptr || !is_aligned(address, kBusPage)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{:#x} of PASID {}: no process, or no page", address, pasid));
  }
  const auto direction =
      write ? platform::DmaDirection::kBidirectional : platform::DmaDirection::kDeviceReads;
  Iommu::Mapping mapping{bdf_.packed(), address, memory.cpu(), direction};
  mapping.node = memory_.memory().node_of(memory.cpu().data);
  const auto known = mappings_.find({pasid, address});
  // A permission more needs nobody to forget anything.
  if (known != mappings_.end() && known->second.memory.data == mapping.memory.data && write) {
    table->unmap(bdf_.packed(), address, mapping.memory.size);
  }
  if (!table->map(mapping)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("PASID {} has something else at {:#x}", pasid, address));
  }
  mappings_[{pasid, address}] = mapping;
  work_.map(mapping);
  return {};
}

Status SharedProcesses::unmap(std::uint32_t pasid, std::uint64_t address) {
  charge_call();
  const auto known = mappings_.find({pasid, address});
  if (known == mappings_.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("PASID {} has nothing at {:#x}", pasid, address));
  }
  const auto mapping = known->second;
  mappings_.erase(known);
  host_.unmap_process(bdf_.packed(), pasid, address, mapping.memory.size);
  work_.unmap(mapping);
  return {};
}

std::optional<platform::PageRequest> SharedProcesses::take() {
  charge_call();
  const auto found = memory_.page_requests().take(bdf_.packed());
  if (!found) return std::nullopt;
  return platform::PageRequest{found->pasid, found->address, found->message.write,
                               found->message.group};
}

void SharedProcesses::respond(const platform::PageRequest& request,
                              platform::PageResponse response) {
  charge_call();
  memory_.page_requests().respond(bdf_.packed(), request.pasid, request.group, response);
}

}  // namespace npu::model

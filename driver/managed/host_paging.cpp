// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/host_paging.hpp"

#include <utility>

#include "driver/managed/card_pages.hpp"
#include "driver/managed/kernel_costs.hpp"
#include "npu/abi/page_fault.hpp"

namespace npu::driver {

using platform::PageResponse;

Result<std::unique_ptr<HostPaging>> HostPaging::create(CardLink& link, MemoryManager& memory) {
  auto processes = link.platform().open_process_addresses(link.bdf());
  if (!processes) return forward_error(processes);
  return std::unique_ptr<HostPaging>(new HostPaging(link, memory, std::move(*processes)));
}

void HostPaging::stop() {
  if (!processes_) return;
  if (!link_.lost()) static_cast<void>(serve(0));
  processes_.reset();
}

Status HostPaging::serve(std::uint32_t vmids) {
  for (unsigned vmid = 1; vmid < abi::kVmids; ++vmid) {
    const std::uint32_t bit = 1U << vmid;
    const bool served = (vmids & bit) != 0;
    if (served == ((served_ & bit) != 0)) continue;
    if (served && !processes_->attach(pasid_of(vmid))) continue;  // its accesses fail
    link_.write(abi::SharedSpace{}
                    .set<abi::SharedSpace::Pasid>(pasid_of(vmid))
                    .set<abi::SharedSpace::Vmid>(vmid)
                    .set<abi::SharedSpace::Enable>(served ? 1 : 0));
  }
  served_ = vmids;
  return {};
}

bool HostPaging::serve_some(const ServedSpaces& spaces) {
  const auto request = processes_->take();
  if (!request) return false;
  ++records_;
  const std::uint32_t vmid = request->pasid - kFirstPasid;
  auto* const pages = vmid < spaces.size() ? spaces[vmid] : nullptr;
  if (pages == nullptr) {
    processes_->respond(*request, PageResponse::kInvalid);
    return true;
  }
  ++pages->statistics().records;
  KernelCosts costs(link_.platform().tasks());
  costs.lock();
  costs.faults(1);
  const bool admitted =
      static_cast<bool>(pages->exposed().admit(request->address, request->write, pages->trace()));
  if (!admitted) ++pages->statistics().fault_errors;
  pages->trace().begin(ServiceTrace::kReply);
  processes_->respond(*request, admitted ? PageResponse::kSuccess : PageResponse::kInvalid);
  pages->trace().end();
  return true;
}

Result<std::shared_ptr<HostFrame>> HostPaging::new_frame(ByteSpan own) {
  auto memory = own.size == 0 ? processes_->allocate(kPageSize) : processes_->import(own);
  if (!memory) return forward_error(memory);
  return std::make_shared<HostFrame>(std::move(*memory));
}

Status HostPaging::expose(unsigned vmid, std::uint64_t at, const HostFrame& frame, bool write) {
  return processes_->map(pasid_of(vmid), at, frame.memory(), write);
}

Status HostPaging::hide(unsigned vmid, std::uint64_t at) {
  return processes_->unmap(pasid_of(vmid), at);
}

Status HostPaging::map(std::uint32_t, std::uint64_t, abi::PageTableEntry) {
  return fail(ErrorCode::kUnsupported, "the card has no pages");
}

Result<bool> HostPaging::unmap(std::uint32_t, std::uint64_t) {
  return fail(ErrorCode::kUnsupported, "the card has no pages");
}

}  // namespace npu::driver

// SPDX-License-Identifier: Apache-2.0
#include "model/registers/card_registers.hpp"

#include "npu/abi/identity.hpp"

namespace npu::model {
namespace {

std::string prefix_of(unsigned device_index, unsigned function) {
  const std::string card = "card" + std::to_string(device_index);
  return function == 0 ? card : card + ".function" + std::to_string(function);
}

}  // namespace

CardRegisters::CardRegisters(const sc_core::sc_module_name& name, Simulation& sim,
                             const ChipConfig& config, unsigned device_index, unsigned function)
    : sc_module(name),
      sim_(sim),
      device_index_(device_index),
      function_(function),
      track_prefix_(prefix_of(device_index, function)),
      virtual_(function < config.physical_functions() ? 0
                                                      : function - config.physical_functions() + 1),
      device_id_(virtual_ == 0 ? config.pci.device_id : config.pci.sriov_vf_device_id),
      revision_(config.pci.revision),
      partition_(config.partition(function)),
      events_(config.events),
      streams_(config.streams),
      track_(sim.recorder.track(track_prefix_ + ".registers")) {
  register_socket.register_b_transport(this, &CardRegisters::b_transport);
  register_socket.register_transport_dbg(this, &CardRegisters::transport_dbg);
  install_hooks();
  set_constants();
}

void CardRegisters::set_constants() {
  bank_.set(
      abi::ChipId{}.set<abi::ChipId::Vendor>(abi::kVendorId).set<abi::ChipId::Device>(device_id_));
  bank_.set(abi::ChipRevision{}
                .set<abi::ChipRevision::AbiVersion>(abi::kAbiVersion)
                .set<abi::ChipRevision::Silicon>(revision_));
  bank_.set(abi::AiCoreCount::from_raw(partition_.own_clusters()));
  bank_.set(abi::DeviceIndex::from_raw(device_index_));
  bank_.set(abi::HbmSize::from_raw(partition_.usable));
  bank_.set(abi::StreamWindowBase::from_raw(stream_window_base()));
  bank_.set(abi::StreamCount::from_raw(streams_.size()));
  bank_.set(abi::EventCount::from_raw(events_.size()));
  if (virtual_ == 0) return;
  bank_.set(abi::PartitionCapability{}.set<abi::PartitionCapability::Function>(virtual_));
  bank_.set(abi::PartitionStatusRegister{}.set<abi::PartitionStatusRegister::Code>(
      static_cast<std::uint32_t>(abi::PartitionStatus::kOperation)));
}

void CardRegisters::set_partition(const Partition& partition) {
  partition_ = partition;
  set_constants();
}

void CardRegisters::install_hooks() {
  bank_.on_read<abi::DeviceTime>([this] { return abi::DeviceTime::from_raw(device_time()); });
  bank_.on_read<abi::DeviceStatus>([this] {
    const auto valid = bank_.get<abi::FaultStatus>().get<abi::FaultStatus::Valid>();
    return abi::DeviceStatus{}
        .set<abi::DeviceStatus::Ready>(partition_.memory != 0 ? 1 : 0)
        .set<abi::DeviceStatus::FaultPending>(valid)
        .set<abi::DeviceStatus::PagesIsolated>(pages_isolated_() ? 1 : 0);
  });
}

void CardRegisters::report(const ReportedFault& fault) {
  sim_.emit(track_, platform::Activity::kFault, sim_now(), sim_now(), fault.cause, 0,
            static_cast<std::uint64_t>(fault.code));
  if (on_fault_) on_fault_(fault);
  auto status = bank_.get<abi::FaultStatus>();
  if (status.get<abi::FaultStatus::Valid>() != 0) {
    bank_.set(status.set<abi::FaultStatus::Overflow>(1));
    return;
  }
  bank_.set(status.set<abi::FaultStatus::Valid>(1));
  bank_.set(abi::FaultCodeRegister{}
                .set<abi::FaultCodeRegister::Code>(static_cast<std::uint32_t>(fault.code))
                .set<abi::FaultCodeRegister::Opcode>(fault.opcode)
                .set<abi::FaultCodeRegister::Engine>(fault.engine));
  bank_.set(abi::FaultAddress::from_raw(fault.address));
  bank_.set(abi::FaultInfo{}
                .set<abi::FaultInfo::Stream>(fault.stream)
                .set<abi::FaultInfo::RingIndex>(fault.ring_index));
  bank_.set(abi::FaultAccess{}
                .set<abi::FaultAccess::Vmid>(fault.vmid)
                .set<abi::FaultAccess::Write>(fault.write ? 1 : 0));
  raise(kFaultVector, fault.cause);
}

void CardRegisters::function_reset(unsigned function) {
  if (function != function_) return;
  reset_time_ = sim_now();
  bank_.reset();
  events_.reset();
  streams_.reset();
  set_constants();
}

bool CardRegisters::serve(tlm::tlm_command command, std::uint64_t offset, unsigned char* data,
                          std::size_t length) {
  const bool event_block =
      offset >= abi::kEventBlock &&
      offset < abi::kEventBlock + std::uint64_t{abi::kEventStride} * abi::kMaxEvents;
  if (command == tlm::TLM_READ_COMMAND) {
    if (event_block) return events_.host_read(offset - abi::kEventBlock, data, length);
    return windows_.read(offset, data, length) || bank_.host_read(offset, data, length);
  }
  // The event registers are read-only.
  return event_block ? offset % 4 == 0 && length % 4 == 0 : bank_.host_write(offset, data, length);
}

unsigned CardRegisters::transport_dbg(tlm::tlm_generic_payload& trans) {
  const bool ok = serve(trans.get_command(), trans.get_address(), trans.get_data_ptr(),
                        trans.get_data_length());
  return ok ? trans.get_data_length() : 0;
}

void CardRegisters::b_transport(tlm::tlm_generic_payload& trans, sc_core::sc_time&) {
  const bool ok = serve(trans.get_command(), trans.get_address(), trans.get_data_ptr(),
                        trans.get_data_length());
  trans.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE);
  if (auto* info = trans.get_extension<Transaction>(); info != nullptr && !ok) {
    info->completion = Completion::kUnsupportedRequest;
  }
}

}  // namespace npu::model

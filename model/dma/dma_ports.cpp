// SPDX-License-Identifier: Apache-2.0
#include "model/dma/dma_ports.hpp"

namespace npu::model {
namespace {

void set_agent(Transaction& info, const HostAgent& agent) {
  info.function = agent.function;
  info.pasid = agent.pasid;
}

}  // namespace

void DmaPorts::send(const Forward& forward, tlm::tlm_generic_payload& trans, const RequestTag& tag,
                    std::uint64_t cause) {
  auto& info = Transaction::of(trans);
  info.cause = cause;
  info.context = tag.pack();
  info.issued = sim_now();
  auto delay = sc_core::SC_ZERO_TIME;
  forward(trans, delay);
}

void DmaPorts::read_host(const RequestTag& tag, const HostAgent& agent, std::uint64_t bus,
                         Bytes length, std::uint64_t cause) {
  auto& trans = pool_.allocate(tlm::TLM_READ_COMMAND, bus, length);
  set_agent(Transaction::of(trans), agent);
  send(to_host_, trans, tag, cause);
}

void DmaPorts::translate(const RequestTag& tag, const HostAgent& agent, std::uint64_t bus,
                         std::uint64_t cause) {
  auto& trans = sim_.pool.allocate(tlm::TLM_READ_COMMAND, bus, nullptr, 8);
  Transaction::of(trans).kind = TransactionKind::kTranslation;
  set_agent(Transaction::of(trans), agent);
  send(to_host_, trans, tag, cause);
}

tlm::tlm_generic_payload& DmaPorts::make_posted_write(const HostAgent& agent, std::uint64_t bus,
                                                      Bytes length, std::uint64_t cause) {
  auto& trans =
      length <= Transaction::kInlineData
          ? sim_.pool.allocate(tlm::TLM_WRITE_COMMAND, bus, nullptr, static_cast<unsigned>(length))
          : pool_.allocate(tlm::TLM_WRITE_COMMAND, bus, length);
  auto& info = Transaction::of(trans);
  info.posted = true;
  set_agent(info, agent);
  info.cause = cause;
  return trans;
}

std::optional<SimTime> DmaPorts::post(tlm::tlm_generic_payload& trans) {
  Transaction::of(trans).issued = sim_now();
  auto delay = sc_core::SC_ZERO_TIME;
  if (to_host_(trans, delay) == tlm::TLM_COMPLETED) {
    trans.release();
    return std::nullopt;
  }
  return sim_now() + delay.value();
}

void DmaPorts::fetch_device(const RequestTag& tag, SpaceId space, Bytes address, Bytes length,
                            std::uint64_t cause) {
  auto& trans = pool_.allocate(tlm::TLM_READ_COMMAND, address, length);
  Transaction::of(trans).vmid = space;
  send(to_hbm_, trans, tag, cause);
}

void DmaPorts::read_device(const RequestTag& tag, SpaceId space, std::uint64_t address,
                           unsigned char* data, Bytes length, std::uint64_t cause) {
  const auto bytes = static_cast<unsigned>(length);
  auto& trans = data != nullptr ? sim_.pool.allocate(tlm::TLM_READ_COMMAND, address, data, bytes)
                                : sim_.pool.allocate_timing(tlm::TLM_READ_COMMAND, address, bytes);
  Transaction::of(trans).vmid = space;
  Transaction::of(trans).flow = tag.unit;
  Transaction::of(trans).replays = true;
  if (!sim_.weakest) return send(to_memory(trans), trans, tag, cause);
  // Accesses of different pages and channels pass each other.
  Transaction::of(trans).cause = cause;
  Transaction::of(trans).context = tag.pack();
  sim_.agenda.at<&DmaPorts::send_late>(sim_now() + sim_.weakest->late(kLate), *this,
                                       reinterpret_cast<std::uintptr_t>(&trans));
}

const DmaPorts::Forward& DmaPorts::to_memory(const tlm::tlm_generic_payload& trans) const {
  return trans.get_data_ptr() != nullptr ? to_hbm_ : to_l2_;
}

void DmaPorts::send_late(std::uint64_t handle) {
  auto& trans = *reinterpret_cast<tlm::tlm_generic_payload*>(handle);
  Transaction::of(trans).issued = sim_now();
  auto delay = sc_core::SC_ZERO_TIME;
  to_memory(trans)(trans, delay);
}

void DmaPorts::write_device(const RequestTag& tag, Reduction reduction, SpaceId space,
                            std::uint64_t address, unsigned char* data, Bytes length,
                            std::uint64_t cause) {
  auto& trans =
      sim_.pool.allocate(tlm::TLM_WRITE_COMMAND, address, data, static_cast<unsigned>(length));
  auto& info = Transaction::of(trans);
  info.vmid = space;
  info.flow = tag.unit;
  info.replays = reduction.operation == abi::ReduceOperation::kNone;
  info.reduction = reduction.operation;
  info.element = reduction.element;
  send(to_hbm_, trans, tag, cause);
}

}  // namespace npu::model

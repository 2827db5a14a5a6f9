// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/management/probed_card.hpp"

#include "npu/abi/layout.hpp"
#include "npu/abi/registers.hpp"

namespace npu::cli {
namespace {

class ProbedRegisters : public platform::MmioRegion {
 public:
  explicit ProbedRegisters(model::Endpoint& endpoint) : endpoint_(endpoint) {}
  Bytes size() const override { return abi::kBar0Size; }
  std::uint32_t read32(Bytes offset) override { return read<std::uint32_t>(offset); }
  std::uint64_t read64(Bytes offset) override { return read<std::uint64_t>(offset); }
  void write32(Bytes offset, std::uint32_t value) override { write(offset, value); }
  void write64(Bytes offset, std::uint64_t value) override { write(offset, value); }

 private:
  unsigned transport(tlm::tlm_command command, Bytes offset, void* data, unsigned length) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(offset);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(length);
    return endpoint_.register_sockets[0]->transport_dbg(payload);
  }
  template <class T>
  T read(Bytes offset) {
    T value{};
    const bool done = transport(tlm::TLM_READ_COMMAND, offset, &value, sizeof value) != 0;
    return done ? value : static_cast<T>(~std::uint64_t{0});
  }
  template <class T>
  void write(Bytes offset, T value) {
    transport(tlm::TLM_WRITE_COMMAND, offset, &value, sizeof value);
  }

  model::Endpoint& endpoint_;
};

// Of function 0, whose partition begins at `base`.
class ProbedMemory : public platform::MmioRegion {
 public:
  ProbedMemory(model::SparseMemory& memory, const model::Partition& partition)
      : memory_(memory), base_(partition.memory_base), size_(partition.memory) {}
  Bytes size() const override { return size_; }
  std::uint32_t read32(Bytes offset) override { return static_cast<std::uint32_t>(read64(offset)); }
  std::uint64_t read64(Bytes offset) override {
    std::uint64_t value = 0;
    memory_.read(base_ + offset, reinterpret_cast<unsigned char*>(&value), sizeof value);
    return value;
  }
  // Who looks does not write.
  void write32(Bytes, std::uint32_t) override {}
  void write64(Bytes, std::uint64_t) override {}

 private:
  model::SparseMemory& memory_;
  const Bytes base_, size_;
};

}  // namespace

ProbedCard::ProbedCard(model::System& system, unsigned card)
    : system_(system),
      bdf_(platform::Bdf::unpack(system.fabric().endpoint(card).requester())),
      registers_(std::make_unique<ProbedRegisters>(system.fabric().endpoint(card))),
      memory_(std::make_unique<ProbedMemory>(system.card(card).hbm().memory(),
                                             system.config().cards[card].partition(0))) {}

ProbedCard::~ProbedCard() = default;

std::uint32_t ProbedCard::read_config(std::uint32_t offset) {
  return system_.fabric().peek_config(bdf_, offset);
}

Result<driver::MemoryUse> ProbedCard::memory_use() {
  const auto total = platform::read_register<abi::HbmSize>(*registers_).raw;
  const auto used = driver::mapped_bytes(*registers_, *memory_);
  if (!used) return forward_error(used);
  return driver::MemoryUse{total, *used};
}

Result<std::vector<driver::CardProcess>> ProbedCard::processes() {
  return fail(ErrorCode::kUnsupported, "only its driver knows the card's processes");
}

std::vector<std::unique_ptr<driver::ManagementAccess>> probe_cards(model::System& system) {
  std::vector<std::unique_ptr<driver::ManagementAccess>> cards;
  for (unsigned i = 0; i < system.cards(); ++i) {
    cards.push_back(std::make_unique<ProbedCard>(system, i));
  }
  return cards;
}

}  // namespace npu::cli

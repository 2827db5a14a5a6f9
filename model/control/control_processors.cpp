// SPDX-License-Identifier: Apache-2.0
#include "model/control/control_processors.hpp"

#include "model/core/posted_record.hpp"

namespace npu::model {

ControlProcessors::ControlProcessors(const sc_core::sc_module_name& name, Simulation& simulation,
                                     const ChipConfig& config, const std::string& track_prefix,
                                     DeviceMemoryPort& device_memory)
    : sc_module(name),
      sim_(simulation),
      functions_(config.functions()),
      programs_("programs", simulation, config.aicpu, config.aicpu_core, config.functions(),
                track_prefix, device_memory) {
  std::vector<std::vector<unsigned>> own;
  for (unsigned i = 0; i < functions_; ++i) own.push_back({i});
  programs_.connect_windows(*this, std::move(own));
  programs_.connect(*this);
}

void ControlProcessors::start_program(unsigned function, std::uint64_t image,
                                      std::uint64_t arguments) {
  KernelBlock block;
  block.image = image;
  block.blocks = 1;
  block.arguments = arguments;
  block.vmid = space_of(function, abi::kVmidPhysical);
  block.context = function;
  programs_.start(function, block);
}

void ControlProcessors::block_done(unsigned core, const KernelBlock&, const CommandFault& fault) {
  units_[core]->program_ended(fault);
}

void ControlProcessors::function_reset(unsigned function) {
  units_[function]->reset();
  programs_.function_reset(function);
  set_hung(function, false);  // though no program has run
}

std::uint32_t ControlProcessors::read(unsigned function, std::uint32_t offset) const {
  return units_[function]->read(offset);
}

void ControlProcessors::write(unsigned function, std::uint32_t offset, std::uint32_t value) {
  units_[function]->write(offset, value);
}

void ControlProcessors::window_changed(unsigned function) {
  listener_->register_changed(function, 0);
}

void ControlProcessors::post(unsigned function, std::uint64_t bus, const abi::Message& message,
                             std::uint64_t cause) {
  post_record(sim_, host_socket, function, bus, message, cause);
}

}  // namespace npu::model

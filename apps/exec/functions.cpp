// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/functions.hpp"

#include <fmt/format.h>

namespace npu::exec {
namespace {

Status refuse(const CardFunction& wanted, const Error& error) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("virtual function {} of {}: {}", wanted.index, wanted.resource_template,
                          error.message()));
}

}  // namespace

ProgramFunctions::Place::Place(platform::Platform& platform, std::string soc_name,
                               const driver::VirtualDevice& made, const acl::Machine& whole)
    : cards(platform, std::move(soc_name), *made.bdf, whole.cards.settings()),
      shares(platform),
      machine{platform, cards, shares, whole.images, whole.operators, {}, {}, 0, {}, whole.sharing},
      id(made.id) {}

Status ProgramFunctions::make(const std::vector<CardFunction>& wanted, acl::Machine& whole) {
  if (wanted.empty()) return {};
  auto card = whole.cards.open(0);
  if (!card) return fail(ErrorCode::kInvalidArgument, card.error().text);
  auto opened = driver::VirtualFunctions::open(*(*card)->device);
  if (!opened) return refuse(wanted[0], opened.error());
  functions_ = std::move(*opened);
  if (auto on = functions_->set_count(functions_->total()); !on)
    return refuse(wanted[0], on.error());
  for (const auto& one : wanted) {
    driver::VirtualDeviceOptions options;
    options.name = one.resource_template;
    options.index = one.index;
    const auto made = functions_->create(options);
    if (!made) return refuse(one, made.error());
    places_.push_back(
        std::make_unique<Place>(whole.platform, whole.cards.soc_name(0), *made, whole));
  }
  // That is not what programs leave behind.
  (*card)->used_before = (*card)->device->memory_statistics().used();
  return {};
}

Bytes ProgramFunctions::memory_left() const {
  Bytes left = 0;
  for (const auto& place : places_) left += place->cards.memory_left();
  return left;
}

void ProgramFunctions::close() {
  for (const auto& place : places_) place->cards.close();
  functions_.reset();
}

}  // namespace npu::exec
